"""Look at the main pages of the built site with axe-core, light and dark, wide and narrow: `make docs-check`.

Arguments are other pages, such as `index`."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, sync_playwright

SITE = Path(__file__).resolve().parents[2] / "build" / "site"
PAGES = (
    *("index", "syllabus", "generated/gallery", "samples", "alone", "student", "trouble", "tasks", "install"),
    *(
        "instructor",
        "ta",
        "course",
        "report",
        "own-course",
        "security",
        "hub",
        "performance",
        "not-shown-yet",
    ),
    *("samples/feedback", "samples/report", "samples/viva", "search"),
    *("generated/notebooks/00_warm_up/warm_up", "generated/notebooks/02_attention/attention"),
    *("generated/notebooks/10_after_pretraining/after_pretraining",),
    *("generated/reference/gradekit/gradekit.checks",),
)
_PHONE, _DESKTOP = 390, 1280
#: how many tables reach beyond the screen without a box of their own that scrolls
_CUT = """() => [...document.querySelectorAll("table")].filter(table => {
    if (table.getBoundingClientRect().right <= window.innerWidth) return false;
    for (let box = table.parentElement; box !== document.body; box = box.parentElement)
        if (["auto", "scroll"].includes(getComputedStyle(box).overflowX)) return false;
    return true;
}).length"""


def problems(browser: Browser, pages: Sequence[str]) -> Iterator[str]:
    """What axe-core finds, pages that are wider than the screen, and tables that are cut at its edge."""
    for width, dark in ((_DESKTOP, False), (_DESKTOP, True), (_PHONE, False)):
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        page = context.new_page()
        for name in pages:
            page.goto((SITE / f"{name}.html").as_uri())
            for rule in Axe().run(page).response["violations"]:
                for node in rule["nodes"]:
                    yield f"{name}, {scheme}, {width} pixels: {rule['id']}: {node['html'][:160]}"
            if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
                yield f"{name}: {wide} pixels wide on a screen of {width}"
            if cut := page.evaluate(_CUT):
                yield f"{name}: {cut} of its tables are cut on a screen of {width} pixels, and don't scroll"
        context.close()


def main() -> int:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        # --no-sandbox: as root, Chromium starts in no other way; it opens no page from elsewhere
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        found = 0
        for problem in problems(browser, sys.argv[1:] or PAGES):
            print(problem, flush=True)
            found += 1
        browser.close()
    print(f"{found} problems")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
