"""A check for schemathesis: what fits the schema is refused only for what it means.

JSON Schema cannot say that ids differ, that some settings exclude each other, that lists have the same
scorers, or that a hit must be a member of its list. Such a refusal has a type of its own; "invalid-request"
would say that the schema is wrong. It stands in the place of `positive_data_acceptance`.
"""

import jsonschema
import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import negative_data_rejection

MEANINGS = {"duplicate-ids", "not-shown", "invalid-parameter", "invalid-scores"}


@schemathesis.check
def refused_only_for_what_it_means(_ctx, response, case):
    """Tell whether a valid request was refused as invalid."""
    if response.status_code not in (400, 422) or case.meta is None or case.meta.generation.mode.is_negative:
        return
    kind = response.json()["type"].removeprefix("urn:shortlist:problem:")
    assert kind in MEANINGS, f"{case.method} {case.path} was refused as {kind}: {response.json()['detail']}"


@schemathesis.check
def refused_where_it_does_not_fit(ctx, response, case):
    """Tell whether an invalid request was accepted. It stands in the place of `negative_data_rejection`.

    That takes one variant of a body, changes its kind, and calls it invalid, although it may be another variant now.
    """
    if response.status_code >= 400 or _fits(case):
        return None
    return negative_data_rejection(ctx, response, case)


def _fits(case):
    """Return whether a body that was meant to be invalid fits its whole schema."""
    if case.meta is None or getattr(case.meta.phase.data, "parameter_location", None) is not ParameterLocation.BODY:
        return False
    root = case.operation.schema.raw_schema
    body = case.operation.definition.raw["requestBody"]["content"]["application/json"]["schema"]
    return jsonschema.Draft202012Validator({**body, "components": root["components"]}).is_valid(case.body)
