"""A real browser, Chromium, that opens pages as people do."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).parents[3] / "docs" / "pictures"
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--pictures", action="store_true", help="write the pictures of the pages to docs/pictures"
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium. A machine without it fails these tests: `make test` installs it where it may."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    assert program, "these tests need Chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        # --no-sandbox: as root, Chromium starts in no other way; it opens no page from elsewhere
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-quic"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab without network, but for this machine's own servers; fails if the page asks for anything else."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    refused: list[str] = []

    def guard(route: object) -> None:
        url = route.request.url
        if url.startswith(
            ("file:", "data:", "blob:", "http://127.0.0.1", "http://localhost", "ws://127.0.0.1")
        ):
            route.continue_()
        else:
            refused.append(url)
            route.abort()

    context.route("**/*", guard)
    page = context.new_page()
    page.refused = refused
    yield page
    context.close()


@pytest.fixture
def picture(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """Takes a picture for the docs: `picture(page_or_element, "formgrader")`."""
    folder = PICTURES if request.config.getoption("--pictures") else tmp_path

    def take(what: object, name: str, **options: object) -> Path:
        folder.mkdir(exist_ok=True)
        path = folder / f"{name}.png"
        what.screenshot(path=path, **options)
        return path

    return take


@pytest.fixture
def accessibility_problems() -> Callable[[Page], list[str]]:
    """What axe-core finds wrong with a page: contrast, headings, texts for pictures, names of links …"""

    def find(page: Page) -> list[str]:
        found = Axe().run(page).response["violations"]
        return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]

    return find
