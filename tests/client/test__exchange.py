"""Responses: what they say, and what they are if a stranger sent them."""

import httpx2
import pytest

from shortlist import errors
from shortlist.client._exchange import Reply, asked_pause, error_of, problem_in, read, results_of


def test_a_reply_without_what_is_asked_for_is_a_strangers():
    with pytest.raises(errors.ServiceError, match="has no 'round_id'"):
        Reply({"status": "ok"})["round_id"]


@pytest.mark.parametrize("results", [None, [], [1], [{}, {}]])
def test_results_that_do_not_fit(results):
    with pytest.raises(errors.ServiceError, match="does not have 1 results"):
        results_of({"results": results}, 1)


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        ({"type": "urn:shortlist:problem:lease-lost", "status": 409}, errors.LeaseLost),
        ({"type": "urn:shortlist:problem:missing-extra", "status": 501}, errors.MissingExtra),
        ({"status": 401}, errors.NotAllowed),
        ({"status": 403}, errors.NotAllowed),
        ({"status": 413}, errors.InvalidInput),
        ({"status": 500}, errors.ServiceError),
    ],
)
def test_problems_are_raised_as_what_they_are(problem, kind):
    assert type(error_of(problem)) is kind


def test_responses_are_read():
    assert read(httpx2.Response(204), repeated=False) is None
    assert read(httpx2.Response(200, json={"a": 1}), repeated=False) == {"a": 1}
    assert read(httpx2.Response(404, json={}), repeated=True) is None
    with pytest.raises(errors.ServiceError, match="not a response of this service"):
        read(httpx2.Response(200, text="<html>"), repeated=False)
    assert "not a response" in problem_in(httpx2.Response(502, text="<html>"))["detail"]


def test_pauses_that_are_asked_for():
    assert 0.5 <= asked_pause(httpx2.Response(429, headers={"Retry-After": "1"})) <= 1.0
    for value in ("soon", "-1", "inf"):
        assert asked_pause(httpx2.Response(429, headers={"Retry-After": value})) is None
    assert asked_pause(httpx2.ConnectError("gone")) is None
