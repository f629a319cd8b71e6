"""What bodies and paths are made of: names, numbers, texts, and how large everything may be."""

from typing import Annotated, Any, Final

from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

from shortlist.scores.learned import MOST_WEIGHT

__all__ = [
    "AFTER_NAME",
    "ANNOTATOR",
    "LONGEST_LEASE",
    "MOST_ANSWERS",
    "MOST_CANDIDATES",
    "MOST_CHARACTERS",
    "MOST_ON_PAGE",
    "MOST_ROUNDS",
    "MOST_SCORERS",
    "PATTERNS",
    "ROUND_ID",
    "STREAM_NAME",
    "Annotator",
    "Body",
    "Id",
    "Image",
    "Name",
    "Number",
    "Numbers",
    "OneError",
    "PageLimit",
    "RoundId",
    "RoundPath",
    "Scorer",
    "Scores",
    "StreamPath",
    "Text",
    "Version",
    "Weight",
    "Weights",
    "Whole",
    "only_schema",
]

#: The most candidates in a round.
MOST_CANDIDATES: Final = 10_000
#: The most scorers that a candidate can have numbers of.
MOST_SCORERS: Final = 50
#: The most characters in a question or a text.
MOST_CHARACTERS: Final = 20_000
#: The most answers in a batch.
MOST_ANSWERS: Final = 1_000
#: The most lists, or items, in a batch.
MOST_ROUNDS: Final = 1_000
#: The longest lease, in seconds.
LONGEST_LEASE: Final = 3_600
#: The most rounds or streams on a page.
MOST_ON_PAGE: Final = 1_000
#: What streams and rounds may be called.
STREAM_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
ROUND_ID: Final = r"^[^/\x00-\x08\x0b\x0c\x0e-\x1f\x7f]{1,128}$"
#: What annotators may be called: no control characters, for some databases do not take them.
ANNOTATOR: Final = r"^[^\x00-\x1f\x7f]{1,200}$"
#: Not `\s`, which is something else in each language.
_IMAGE: Final = r"^https?://[^\x00-\x20\x7f/?#]+[^\x00-\x20\x7f]*$"
#: After what a list of streams may go on: a name, or nothing.
AFTER_NAME: Final = r"^[A-Za-z0-9._-]{0,100}$"
#: The same in words, for the error message: "it should ...".
PATTERNS: Final = {
    STREAM_NAME: "have 1 to 100 letters, digits, dots, hyphens or underscores, the first a letter or a digit",
    AFTER_NAME: "have at most 100 letters, digits, dots, hyphens or underscores",
    ROUND_ID: "have 1 to 128 characters, no slash, and no control characters but tab and newline",
    ANNOTATOR: "have 1 to 200 characters, and no control characters",
    _IMAGE: "be an address that begins with http:// or https://, without spaces",
}

StreamPath = Annotated[str, Path(alias="name", pattern=STREAM_NAME, description="The stream.")]


def _no_dots(value: str) -> str:
    """Refuse what a path cannot end in: clients take it for a folder."""
    if value in (".", ".."):
        raise ValueError('a round cannot be called "." or ".."')
    return value


RoundPath = Annotated[str, Path(alias="round_id", pattern=ROUND_ID, description="The round."), AfterValidator(_no_dots)]
PageLimit = Annotated[int, Query(ge=1, le=MOST_ON_PAGE, description="The most per page.")]


class Whole:
    """An integer that may be written 3.0: in JSON that is one number with 3.

    What is no number at all is refused as it is. A function that is called first would have it converted, which for a
    large value takes long.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        numbers = [
            core_schema.int_schema(strict=True),
            core_schema.no_info_after_validator_function(_as_whole, core_schema.float_schema(strict=True)),
        ]
        number = core_schema.union_schema(
            numbers,  # type: ignore[arg-type]
            mode="left_to_right",
            custom_error_type="int_type",
        )
        return core_schema.chain_schema([number, handler(source)])

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        last: Any = schema
        return handler(last["steps"][-1])


def _as_whole(value: float) -> int:
    if not value.is_integer():
        raise ValueError
    return int(value)


class OneError:
    """One error for all alternatives of a union: each of them would hold a copy of what was sent.

    Parameters
    ----------
    message
        What it says.
    """

    def __init__(self, message: str) -> None:
        self._message = message

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        schema: Any = handler(source)
        return {**schema, "custom_error_type": "alternatives", "custom_error_message": self._message}


def only_schema(schema: dict[str, Any]) -> None:
    """Leave the default out of a field's schema: leaving the field out is not the same as sending null."""
    schema.pop("default", None)


Name = Annotated[str, Field(pattern=STREAM_NAME, description="A stream's name.")]
RoundId = Annotated[
    str,
    Field(
        pattern=ROUND_ID,
        description="A round's id: your own, or one that the service generates. Up to 128 characters, no slash, no "
        "control characters but tab and newline, and neither `.` nor `..`.",
        json_schema_extra={"not": {"enum": [".", ".."]}},
    ),
    AfterValidator(_no_dots),
]
Image = Annotated[
    str,
    Field(
        pattern=_IMAGE,
        max_length=2_000,
        description="The address of a picture, http or https. Pages show it if its host is allowed (`--image-host`).",
    ),
]
Annotator = Annotated[str, Field(pattern=ANNOTATOR, description="Who answers.")]
Id = Annotated[
    Annotated[str, Field(max_length=500)] | Annotated[int, Field(ge=-(2**53) + 1, le=2**53 - 1), Whole()],
    # In this order, so that a string is taken at once.
    Field(
        union_mode="left_to_right",
        description="A candidate's id: a string, or a whole number that every JSON reader keeps (below 2^53).",
    ),
]
Number = Annotated[float, Field(allow_inf_nan=False)]
Numbers = Annotated[list[Number], Field(max_length=MOST_SCORERS, fail_fast=True)]
Weight = Annotated[float, Field(ge=-MOST_WEIGHT, le=MOST_WEIGHT)]
Weights = Annotated[list[Weight], Field(max_length=MOST_SCORERS, fail_fast=True)]
Scorer = Annotated[str, Field(min_length=1, max_length=100)]
Scores = Annotated[dict[Scorer, Number | None], Field(min_length=1, max_length=MOST_SCORERS, fail_fast=True)]
Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
Version = Annotated[str, Field(min_length=1, max_length=200)]


class Body(BaseModel):
    """A body: strict."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True)
