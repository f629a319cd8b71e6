"""Routes with a body, the short way.

The busy routes take parameters from the path and one body. Reading the body straight into its model, in
one step and without the framework's general machinery for dependencies, saves a quarter of the time of a
request. The OpenAPI document and the errors remain the framework's.
"""

import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from shortlist.service.web.dependencies import KEY

__all__ = ["BodyRoute", "is_json"]

Result = TypeVar("Result")
#: From how many fields on it is looked at first whether many of them are unknown.
_MANY_FIELDS: Final = 40_000
#: The most brackets in a body, those in texts included: each may be a list or an object, which takes time to read. A
#: round of 10,000 candidates with scores of several scorers has 120,000.
_MOST_BRACKETS: Final = 150_000
#: The most errors that are listed one by one.
_MANY_ERRORS: Final = 100
#: How many bytes a body has at the most of which an error repeats what was sent: each error has all of its object.
_SHORT: Final = 100_000
#: What nearly every client sends, as the server passes it on.
_USUAL_HEADER: Final = (b"content-type", b"application/json")


def is_json(request: Request) -> bool:
    """Return whether a request says that its body is JSON."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return content_type == "application/json" or content_type.endswith("+json")


class BodyRoute(APIRoute):
    """A route whose function takes `engine`, parameters of the path as strings, `body`, perhaps `key` and `request`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that handles a request."""
        endpoint = self.endpoint
        body = inspect.signature(endpoint, eval_str=True).parameters.get("body")
        if body is None:
            return super().get_route_handler()
        read, read_path = _reader(TypeAdapter(body.annotation)), _path_reader(endpoint)
        names = inspect.signature(endpoint).parameters
        wants_key, wants_request = "key" in names, "request" in names

        async def answer(request: Request) -> Response:
            arguments = read_path(request)
            if _USUAL_HEADER not in request.scope["headers"] and not is_json(request):
                raise RequestValidationError([])  # its handler looks at the content type first
            arguments["body"] = read(await request.body())
            if wants_key:
                arguments["key"] = request.scope.get(KEY)
            if wants_request:
                arguments["request"] = request
            response: Response = await endpoint(engine=request.app.state.engine, **arguments)
            return response

        return answer


def _path_reader(endpoint: Callable[..., Any]) -> Callable[[Request], dict[str, Any]]:
    """Return what reads the parameters of a path, or raises RequestValidationError."""
    # The validators themselves: the methods of an adapter would add a call for each parameter.
    validators = [
        (name, TypeAdapter(parameter.annotation).validator.validate_python)
        for name, parameter in inspect.signature(endpoint, eval_str=True).parameters.items()
        if name not in ("engine", "body", "key", "request")
    ]

    def read(request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for name, validate in validators:
            try:
                arguments[name] = validate(request.path_params[name])
            except ValidationError as error:
                raise _invalid("path", error, name) from None
        return arguments

    return read


def _reader(adapter: TypeAdapter[Result]) -> Callable[[bytes], Result]:
    """Return what reads JSON into a model, in milliseconds however wrong it is, or raises RequestValidationError."""
    validate, write = adapter.validator.validate_json, adapter.serializer.to_json

    def read(content: bytes) -> Result:
        if content.count(b"{") + content.count(b"[") > _MOST_BRACKETS:
            raise _refused(f"it has more than {_MOST_BRACKETS:,} lists and objects; send less at once")
        try:
            fields = content.count(b":")
            if fields <= _MANY_FIELDS:
                return validate(content)  # type: ignore[no-any-return]
            # A message for each of many unknown fields would take long: whether there are many is looked at first.
            result: Result = validate(content, extra="ignore")
            unknown = fields - write(result, exclude_unset=True, warnings=False).count(b":")
            if unknown == 0 and b"\\u003" not in content:  # no colon was written as an escape
                return result
            if unknown > _MANY_FIELDS:
                raise _too_many(unknown)
            return validate(content)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise _invalid("body", error, include_input=len(content) < _SHORT) from None

    return read


def _too_many(errors: int) -> RequestValidationError:
    """Return one error for many: what each of them is would take long to say."""
    return _refused(f"it is wrong in {errors:,} places; compare it with /openapi.json, and try a small one first")


def _refused(message: str) -> RequestValidationError:
    return RequestValidationError([{"type": "refused", "loc": ("body",), "msg": message}])


def _invalid(location: str, error: ValidationError, *names: str, include_input: bool = True) -> RequestValidationError:
    """Return a model's error as the framework's own, with the part of the request it is in."""
    if error.error_count() > _MANY_ERRORS:
        return _too_many(error.error_count())
    errors = error.errors(include_url=False, include_context=False, include_input=include_input)
    return RequestValidationError([{**each, "loc": (location, *names, *each["loc"])} for each in errors])
