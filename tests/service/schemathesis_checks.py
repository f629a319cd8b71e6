"""A check for schemathesis: what fits the schema is refused only for what it means.

JSON Schema cannot say that ids differ, that some settings exclude each other, that lists have the same
scorers, or that a hit must be a member of its list. Such a refusal has a type of its own; "invalid-request"
would say that the schema is wrong. It stands in the place of `positive_data_acceptance`.
"""

import schemathesis

MEANINGS = {"duplicate-ids", "not-shown", "invalid-parameter", "invalid-scores"}


@schemathesis.check
def refused_only_for_what_it_means(_ctx, response, case):
    """Tell whether a valid request was refused as invalid."""
    if response.status_code not in (400, 422) or case.meta is None or case.meta.generation.mode.is_negative:
        return
    kind = response.json()["type"].removeprefix("urn:shortlist:problem:")
    assert kind in MEANINGS, f"{case.method} {case.path} was refused as {kind}: {response.json()['detail']}"
