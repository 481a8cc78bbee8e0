"""The sessions and the transcripts of a store, served by Datasette: `plugins/browsing/pages.py`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import dshstore
from tests.plugins.serving import Page, Site, datasette
from tests.plugins.stores import LONG, ODD_IDS
from tests.real_parts import require

ROOT = Path(__file__).parents[3]


class _Reader(HTMLParser):
    """The links, the elements and the text of a page."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(page.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "a":
            self.links.append(attributes.get("href") or "")

    def handle_data(self, data: str) -> None:
        self.words += data


def links(page: Page, part: str) -> list[str]:
    return [link for link in _Reader(page).links if part in link]


def words(page: Page) -> str:
    return " ".join(_Reader(page).words.split())


def main_part(page: Page) -> str:
    """Our own part of a page, as HTML."""
    return page.text.partition('<div class="dsh-page">')[2].partition("<footer")[0]


# -- sessions --


def test_the_sessions_are_listed_the_latest_first(site: Site) -> None:
    page = site.get("/garden/-/sessions")
    assert page.status == 200
    found = re.findall(r'class="dsh-title" href="/garden/-/session/([^"]+)"', page.text)
    assert found[0] == "frost-watch"
    assert found[-1] == "bean-bed"
    assert "turn 1 is open" in words(page)


def test_sessions_are_found_by_what_the_list_shows(site: Site) -> None:
    page = site.get("/garden/-/sessions?text=COMPOST")
    assert links(page, "/-/session/") == ["/garden/-/session/compost"]
    assert "No session has that" in words(site.get("/garden/-/sessions?text=zzz"))


def test_an_empty_store_says_so(site: Site) -> None:
    assert "There are no sessions in this store yet" in words(site.get("/empty/-/sessions"))


def test_a_long_list_goes_on(tmp_path: Path) -> None:
    with dshstore.open(tmp_path / "many.db") as store:
        for number in range(120):
            store.create(session_id=f"s{number:03}", cwd="/").close()
    with datasette(tmp_path / "many.db") as site:
        seen: list[str] = []
        path = "/many/-/sessions"
        while path:
            page = site.get(path)
            seen += links(page, "/-/session/")
            more = re.search(r'rel="next" href="([^"]+)"', page.text)
            path = unescape(more[1]) if more else ""
    assert len(seen) == len(set(seen)) == 120


# -- transcripts --


def test_every_listed_session_can_be_read(site: Site) -> None:
    for store in ("garden", "odd"):
        paths = links(site.get(f"/{store}/-/sessions"), "/-/session/")
        assert len(paths) > 5
        for path in paths:
            assert site.get(path).status == 200, path


@pytest.mark.parametrize("session_id", ODD_IDS)
def test_an_odd_id_has_an_address_and_stands_there_as_text(site: Site, session_id: str) -> None:
    page = site.get(f"/odd/sessions_overview?session_id={_percent(session_id)}")
    [path] = links(page, "/odd/-/session/")
    transcript = site.get(path)
    assert transcript.status == 200
    assert session_id in words(transcript)
    assert "<i>id</i>" not in transcript.text


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def test_a_transcript_tells_turns_speakers_calls_and_failures(site: Site) -> None:
    told = words(site.get("/garden/-/session/seedlings"))
    for part in (
        "Turn 1",
        "Please look at the seedlings on the south window.",
        "take_photo",
        "south-window.jpg, 1024x768",
        "1,400 ms",
        "image/jpeg south-window.jpg",
        "An attempt failed: error",
        "Retry 1 of 3 in 500 ms: the service is overloaded, try again later (SERVER)",
        "Some images are no longer shown to the model from here on",
        "再等一周。",
    ):
        assert part in told


def test_what_a_compaction_hid_is_folded_until_it_is_asked_for(site: Site) -> None:
    folded = site.get("/odd/-/session/compacted")
    assert "Compaction: 3 messages (events 6 to 10) gave way to this" in words(folded)
    assert '<details class="dsh-shadowed">' in folded.text
    assert "secret 0" in folded.text.partition('<details class="dsh-shadowed">')[2]
    unfolded = site.get("/odd/-/session/compacted?shadowed=1")
    assert '<details class="dsh-shadowed" open>' in unfolded.text
    target = site.get("/odd/-/session/compacted?event=2")
    assert '<details class="dsh-shadowed" open>' in target.text


def test_a_transcript_as_of_an_event_is_of_that_moment(site: Site) -> None:
    then = site.get("/odd/-/session/compacted?at=5")
    assert "secret 0" in words(then)
    assert "secret 1" not in words(then)
    assert "dsh-shadowed" not in main_part(then)
    assert "what the model saw then" in words(then)


def test_a_fork_tells_its_parent_and_what_it_inherited(site: Site) -> None:
    page = site.get("/garden/-/session/branched")
    assert "child of seedlings" in words(page)
    assert "What comes before is inherited from the parent" in words(page)
    assert "Written down. Enjoy your evening!" in words(page)


def test_a_message_stays_text(site: Site) -> None:
    for path in (
        "/odd/-/session/script",
        "/odd/-/sessions?text=script",
        "/odd/messages?session_id=script",
        "/odd/event_log?session_id=script",
        "/odd/what_the_model_saw?session_id=script&seq=",
        "/odd/sessions_by_text?text=taken",
    ):
        page = site.get(path)
        assert "&lt;script&gt;document.title=" in page.text, path
        assert "<script>document.title" not in page.text
        for tag, attributes in _Reader(page).tags:
            assert not any(name.startswith("on") and name != "on" for name in attributes), tag
            assert not (attributes.get("href") or "").startswith("javascript:")
    assert "<strong>bold</strong>" in site.get("/odd/-/session/script").text


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    for path in ("/odd/-/session/image", "/odd/messages?session_id=image"):
        for tag, attributes in _Reader(site.get(path)).tags:
            if tag in ("img", "script", "iframe") or attributes.get("rel") == "stylesheet":
                place = urlsplit(attributes.get("src") or attributes.get("href") or "")
                assert not place.netloc, (path, tag, attributes)


def test_what_no_page_can_hold_is_shown_in_its_place(site: Site) -> None:
    assert "half a pair: \ufffd, NUL: ␀, bell: ␇" in words(site.get("/odd/-/session/half"))


def test_content_of_no_known_shape_is_shown_as_it_is(site: Site) -> None:
    page = site.get("/odd/-/session/shapes")
    told = words(page)
    assert '{"type":"hologram","depth":3}' in told
    assert "<td>1</td>" in page.text
    assert "25,000 more characters in the event" in told
    assert '{"a":[1,{' not in told  # the call is told by the message that made it
    assert "41 lines" in told


def test_a_long_transcript_comes_in_parts(site: Site) -> None:
    path = "/odd/-/session/long"
    told: list[str] = []
    sizes = []
    while path:
        page = site.get(path)
        sizes.append(len(page.text))
        told += re.findall(r"question \d+", main_part(page).partition("<h2")[2])
        more = re.search(r'rel="next" href="([^"]+)"', page.text)
        path = unescape(more[1]) if more else ""
    assert told == [f"question {number}" for number in range(LONG)]
    assert len(sizes) > 5
    assert max(sizes) < 300_000


def test_an_event_is_found_in_its_part(site: Site) -> None:
    page = site.get("/odd/-/session/long?event=3002")
    assert 'id="e3002"' in page.text
    assert "question 500" in words(page)


def test_an_unknown_event_is_named(site: Site) -> None:
    told = words(site.get("/odd/-/session/unknown"))
    assert "Event 3 is of the unknown type “garden/gnome”" in told
    assert "before the unknown" in told


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/garden/-/session/nobody", 404, "no session 'nobody' in this store"),
        ("/garden/-/session/bean-bed?format=3", 404, "no session 'bean-bed@v3' in this store"),
        ("/garden/-/session/bean-bed?at=99", 404, "has no event 99: its events are 0 to 51"),
        ("/garden/-/session/bean-bed?at=x", 400, "at must be a number, not x"),
        ("/garden/-/sessions?page=-1", 400, "page must be a number, not -1"),
        ("/garden/-/session/s", 404, "session id 's' is ambiguous"),
        ("/_memory/-/sessions", 404, "_memory is not a dshstore store"),
        ("/nowhere/-/sessions", 404, "no such database"),
    ],
)
def test_what_is_not_there_is_a_sentence(site: Site, path: str, status: int, sentence: str) -> None:
    page = site.get(path)
    assert page.status == status
    assert sentence in words(page)


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/a/b/c/d/e",
        "/garden/-/session/a/b",
        "/garden/-/session",
        "/garden/-/session/bean-bed/nothing.svg",
        "/garden/-/sessions/a",
        "/garden/-/sessions.json",
        "/garden/no_table",
        "/a/b/c/d.json",
        "/-/no-plugin",
    ],
)
def test_an_address_without_a_page_is_not_found(site: Site, path: str) -> None:
    page = site.get(path)
    assert page.status == 404
    if path.endswith(".json"):
        assert json.loads(page.text)["ok"] is False
    else:
        assert "Error 404" in words(page)


@pytest.mark.parametrize("path", ["/garden/-/sessions/", "/garden/-/session/bean-bed/"])
def test_a_slash_too_many_leads_to_the_page(site: Site, path: str) -> None:
    page = site.get(path)
    assert (page.status, page.url) == (200, site.url + path.removesuffix("/"))


def test_the_heading_of_a_turn_that_goes_on_is_not_folded(site: Site) -> None:
    before, _, after = main_part(site.get("/odd/-/session/compacted-in-a-turn")).partition("<h2")
    assert "dsh-shadowed" not in before
    assert after.index("dsh-shadowed") < after.index("secret") < after.index("</details>")
    assert "</details>" in after.partition("shown reply")[0]


def test_the_heading_of_a_turn_of_which_nothing_is_seen_is_folded(site: Site) -> None:
    page = main_part(site.get("/odd/-/session/compacted"))
    assert "dsh-shadowed" in page.partition("<h2")[0]
    assert page.rpartition("</details>")[2].count("<h2") == 1


def test_a_damaged_event_is_a_sentence_and_no_other_session_s_business(
    garden: Path, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.db"
    shutil.copy(garden, path)
    damage = (ROOT / "fixtures" / "broken" / "data-cut-short.sql").read_text()
    subprocess.run([require("sqlite3"), path], input=damage, text=True, check=True)
    with datasette(path) as site:
        page = site.get("/damaged/-/session/compost")
        assert page.status == 500
        assert "store cannot be read: event 9 cannot be read: Unterminated" in words(page)
        assert site.get("/damaged/-/session/seedlings").status == 200


def test_a_generation_has_its_own_transcript(garden: Path, tmp_path: Path) -> None:
    path = tmp_path / "migrated.db"
    shutil.copy(garden, path)
    with dshstore.open(path) as store:
        store.migrate("bean-bed", to=2)
    with datasette(path) as site:
        assert "format 2" in words(site.get("/migrated/-/session/bean-bed"))
        old = site.get("/migrated/-/session/bean-bed?format=0")
        assert "format 0 (the latest is 2)" in words(old)
        assert all("format=0" in link for link in links(old, "event=38"))
        assert "format 0" in words(site.get("/migrated/-/session/bean-bed@v0"))


def test_the_picture_of_the_context_is_there(site: Site) -> None:
    page = site.get("/garden/-/session/bean-bed")
    [source] = [a["src"] for tag, a in _Reader(page).tags if tag == "img"]
    assert source == "/garden/-/session/bean-bed/context.svg"
    picture = site.get(source)
    assert picture.status == 200
    assert picture.text.startswith("<?xml")
    assert "Watering the runner beans" in picture.text


def test_who_may_not_see_the_store_sees_no_transcript(garden: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"databases": {"garden": {"allow": false}}}')
    with datasette(garden, options=("--metadata", str(rules))) as site:
        for path in ("/-/sessions", "/-/session/bean-bed", "/-/session/bean-bed/context.svg"):
            page = site.get(f"/garden{path}")
            assert page.status == 403, path
            assert "runner beans" not in page.text
