"""A real browser, without a window, on the pages of two stores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.plugins.serving import PATIENCE, Site, datasette
from tests.plugins.stores import write_garden, write_odd
from tests.real_parts import require

#: A browser that asks nobody but who it is sent to, and keeps nothing.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Datasette that serves the garden and the odd store."""
    require("chromium")
    folder = tmp_path_factory.mktemp("browsed")
    with datasette(write_garden(folder / "garden.db"), write_odd(folder / "odd.db")) as running:
        yield running


@pytest.fixture(scope="session")
def _chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = require("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(require("chromedriver")))
    driver.set_page_load_timeout(PATIENCE)
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def browser(_chromium: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """The browser; what a page complains of in its console fails the test."""
    yield _chromium
    complaints = _chromium.get_log("browser")  # type: ignore[no-untyped-call]
    assert complaints == []
