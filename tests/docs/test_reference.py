"""The API for readers of the repository is what the docstrings say."""

from api_reference import FILE, page, resolve


def test_the_page_is_up_to_date():
    assert FILE.read_text(encoding="utf-8") == page(), "run make reference"


def test_it_has_what_people_hold():
    text = FILE.read_text(encoding="utf-8")
    for name in ("Shortlister", "Shortlister.propose", "Client.next", "AnytimeSPS", "crossing_probability", "replay"):
        assert f"`{name}`\n" in text, name
    assert resolve("shortlist.Shortlister.propose").__name__ == "propose"
