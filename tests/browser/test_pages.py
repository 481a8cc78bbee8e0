"""A store as a person sees it in Chromium: what is there, what a click leads to, how it looks."""

from __future__ import annotations

import re

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.plugins.serving import PATIENCE, Site
from tests.plugins.stores import SCRIPT

DESKTOP, PHONE = (1200, 900), (390, 844)

PAGES = (
    "/garden/-/sessions",
    "/garden/-/session/bean-bed?shadowed=1",
    "/garden/-/session/seedlings",
    "/garden/tokens_by_model_and_day",
    "/garden/tool_calls",
    "/garden",
    "/garden?sql=select+'a',+2,+session_id+from+turns+--+all+of+them",
    "/odd/-/session/shapes",
    "/odd/-/session/long",
)

#: Of each kind of element on a page: what it is, and how much its text stands out from its ground,
#: 1 to 21, in the colours that really came out. The ground of the page is the first. How
#: pale the line numbers of Datasette's SQL editor are on a white ground is its own.
CONTRASTS = """
const channels = (color) => color.match(/[0-9.]+/g).map(Number);
const luminance = (color) => {
  const [r, g, b] = channels(color).slice(0, 3).map((value) => {
    value /= 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const clear = (node) => (channels(getComputedStyle(node).backgroundColor)[3] ?? 1) === 0;
const ground = (node) => {
  while (node.parentElement && clear(node)) node = node.parentElement;
  return luminance(getComputedStyle(node).backgroundColor);
};
const seen = new Map();
for (const element of document.querySelectorAll("section.content :not(.CodeMirror-linenumber)")) {
  const kind = `${element.tagName} ${element.className}`;
  if (seen.has(kind) || !element.checkVisibility() || !element.textContent.trim()) continue;
  const pair = [luminance(getComputedStyle(element).color), ground(element)].sort((a, b) => a - b);
  seen.set(kind, (pair[1] + 0.05) / (pair[0] + 0.05));
}
return [["ground", ground(document.body)], ...seen];
"""


def show(
    browser: webdriver.Chrome,
    url: str,
    size: tuple[int, int] = DESKTOP,
    scheme: str = "light",
) -> None:
    """Open a page on a screen of this size, in a light or a dark colour scheme."""
    width, height = size
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get(url)


def find(browser: webdriver.Chrome, selector: str) -> list[WebElement]:
    return browser.find_elements(By.CSS_SELECTOR, selector)


def click(browser: webdriver.Chrome, text: str) -> None:
    """Follow the link of this text and wait for the page that it leads to."""
    link = browser.find_element(By.LINK_TEXT, text)
    browser.execute_script("arguments[0].scrollIntoView()", link)
    link.click()
    WebDriverWait(browser, PATIENCE).until(
        lambda driver: driver.execute_script("return document.readyState") == "complete"
    )


def test_one_clicks_from_the_sessions_to_a_transcript_and_to_what_the_model_saw(
    site: Site, browser: webdriver.Chrome
) -> None:
    show(browser, f"{site.url}/garden/-/sessions")
    click(browser, "Watering the runner beans")
    assert browser.title == "Watering the runner beans"
    click(browser, "what the model sees now")
    assert [cell.text for cell in find(browser, "td.col-role")] == ["user", "user", "assistant"]
    browser.back()
    click(browser, "compactions")
    assert find(browser, "td.col-summary")[0].text.startswith("What was said so far, in short:")
    click(browser, "38")
    assert browser.execute_script("return location.hash") == "#e38"
    target = browser.find_element(By.ID, "e38")
    assert target.is_displayed()
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", target)
    assert 0 <= top < DESKTOP[1]
    click(browser, "Sessions")
    click(browser, "tokens")
    assert "deepseek-chat" in [cell.text for cell in find(browser, "td.col-model")]


def test_what_is_folded_opens_at_a_click(site: Site, browser: webdriver.Chrome) -> None:
    show(browser, f"{site.url}/garden/-/session/bean-bed")
    hidden = browser.find_element(By.ID, "e2")
    assert not hidden.is_displayed()
    find(browser, ".dsh-shadowed > summary")[0].click()
    assert hidden.is_displayed()
    assert "The runner beans by the fence look thirsty." in hidden.text


def test_going_back_in_time_is_a_number_and_a_button(site: Site, browser: webdriver.Chrome) -> None:
    show(browser, f"{site.url}/garden/-/session/bean-bed")
    browser.find_element(By.ID, "at").send_keys("35")
    find(browser, ".dsh-at button")[0].click()
    WebDriverWait(browser, PATIENCE).until(lambda driver: "at=35" in driver.current_url)
    assert browser.find_element(By.ID, "e2").is_displayed()
    click(browser, "now")
    assert not browser.find_element(By.ID, "e2").is_displayed()


def test_sessions_are_found_by_typing(site: Site, browser: webdriver.Chrome) -> None:
    show(browser, f"{site.url}/garden/-/sessions")
    find(browser, ".dsh-find input")[0].send_keys("barrel\n")
    WebDriverWait(browser, PATIENCE).until(lambda driver: "text=barrel" in driver.current_url)
    assert [link.text for link in find(browser, ".dsh-title")] == ["How full is the rain barrel?"]


def test_a_script_in_a_message_is_text(site: Site, browser: webdriver.Chrome) -> None:
    for path in ("/odd/-/session/script", "/odd/messages?session_id=script"):
        show(browser, site.url + path)
        assert browser.title != "taken"
        assert SCRIPT in browser.find_element(By.TAG_NAME, "body").text


def test_the_picture_is_drawn_when_it_is_unfolded(site: Site, browser: webdriver.Chrome) -> None:
    show(browser, f"{site.url}/garden/-/session/bean-bed")
    [picture] = find(browser, ".dsh-picture img")
    assert not picture.is_displayed()
    find(browser, ".dsh-picture > summary")[0].click()
    drawn = "return arguments[0].complete && arguments[0].naturalWidth"
    WebDriverWait(browser, PATIENCE).until(lambda driver: driver.execute_script(drawn, picture))


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_wider_than_a_phone(site: Site, browser: webdriver.Chrome, path: str) -> None:
    show(browser, site.url + path, PHONE)
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= PHONE[0]


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_text_stands_out_in_both_colour_schemes(
    site: Site, browser: webdriver.Chrome, path: str, scheme: str, size: tuple[int, int]
) -> None:
    show(browser, site.url + path, size, scheme)
    (_, ground), *kinds = browser.execute_script(CONTRASTS)
    assert (ground > 0.5) == (scheme == "light")
    assert len(kinds) > 3
    assert [(kind, contrast) for kind, contrast in kinds if contrast < 3] == []


def test_the_sql_editor_is_dark_in_the_dark(site: Site, browser: webdriver.Chrome) -> None:
    show(browser, f"{site.url}/garden", scheme="dark")
    for part in (".CodeMirror", ".CodeMirror-gutters"):
        [element] = find(browser, part)
        shown = element.value_of_css_property("background-color")
        assert max(int(channel) for channel in re.findall(r"\d+", shown)[:3]) < 64
