"""A real browser, Chromium, that opens pages as people do."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from .offline import take_offline

PICTURES = Path(__file__).parents[4] / "docs" / "pictures"
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--pictures", action="store_true", help="write the pictures of the pages to docs/pictures"
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker("browser")


@pytest.fixture(scope="module")  # while Playwright runs, nothing else in this process can use asyncio
def browser() -> Iterator[Browser]:
    """Chromium. A machine without it fails these tests: `make test` installs it where it may."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    assert program, "these tests need Chromium: apt-get install chromium"
    expect.set_options(timeout=30_000)  # the machine may be busy with other tests
    with sync_playwright() as playwright:
        # --no-sandbox: as root, Chromium starts in no other way; it opens no page from elsewhere
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-quic"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab without network, but for this machine's own servers; fails if the page asks for anything else."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.refused = take_offline(context)  # type: ignore[attr-defined]
    yield page
    context.close()


@pytest.fixture
def picture(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """Takes a picture for the docs: `picture(page_or_element, "formgrader")`."""
    folder = PICTURES if request.config.getoption("--pictures") else tmp_path

    def take(what: Page | Locator, name: str, **options: Any) -> Path:
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


#: what a person would have chosen: no news from elsewhere, and every cell is in the page, seen or not
_LAB_SETTINGS = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "notebook-extension/tracker": {"windowingMode": "none"},
}
_TOKEN = "tests"


@pytest.fixture(scope="session")
def jupyter_lab(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """`with jupyter_lab(folder) as address:` JupyterLab with nbgrader's extensions, started in `folder`.

    It has a home of its own. `address("formgrader/gradebook")` is a place in it.
    """

    @contextmanager
    def serve(folder: Path) -> Iterator[Callable[[str], str]]:
        home = tmp_path_factory.mktemp("home")
        for name, values in _LAB_SETTINGS.items():
            path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))
        own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
        env = os.environ | {"HOME": str(home), "JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}
        env |= {name: str(home / name.lower()) for name in own}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--port-retries=0"]
        command = [
            str(Path(sys.executable).with_name("jupyter-lab")),
            *options,
            f"--IdentityProvider.token={_TOKEN}",
        ]
        with (home / "log.txt").open("w") as log:
            process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)

        def address(place: str) -> str:
            return f"http://127.0.0.1:{port}/{place}?token={_TOKEN}"

        try:
            _wait_for(address("api/status"), process, home / "log.txt")
            yield address
        finally:
            process.terminate()  # ends its kernels, too
            process.wait(60)

    return serve


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 90
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < end, log.read_text()[-3000:]
            time.sleep(0.2)
