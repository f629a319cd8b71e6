"""What the tests of HTTP have in common."""

__all__ = ["JSON", "problem"]

JSON = {"content-type": "application/json"}


def problem(answer, status, kind):
    """Return the problem document of an answer, which must be of a kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["type"] == f"urn:shortlist:problem:{kind}"
    assert document["status"] == status
    assert document["detail"]
    return document
