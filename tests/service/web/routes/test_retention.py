"""Closing old rounds and erasing texts."""


def test_texts_are_erased_and_the_log_stays(service):
    service.make()
    listed = [{"id": "a", "score": 0.5, "text": "words"}]
    body = {"candidates": listed, "round_id": "r", "question": "my question"}
    service.http.post("/v1/streams/docs/rounds", json=body)
    assert service.http.delete("/v1/streams/docs/texts", params={"older_than": 3600}).json() == {"erased": 0}
    assert service.http.delete("/v1/streams/docs/texts").json() == {"erased": 1}
    found = service.http.get("/v1/streams/docs/rounds/r").json()
    assert (found["question"], found["candidates"][0]["text"]) == (None, None)
    assert service.http.post("/v1/streams/docs/rounds", json=body).status_code == 200  # it is still known again
    assert service.http.post("/v1/streams/docs/rounds", json={**body, "question": "?"}).status_code == 409
    assert service.http.post("/v1/streams/docs/expire", json={"older_than": 3600}).json() == {"expired": 0}
    assert service.http.post("/v1/streams/docs/expire", json={"older_than": 0}).json() == {"expired": 1}
    assert service.answer("r", {"hit": "a"}).status_code == 410
