"""The tools of the browser tests, tried on pages that are known to be wrong."""


def test_a_page_that_asks_for_something_from_elsewhere_is_found_out(page):
    page.set_content("<script src='https://cdn.example.org/x.js'></script>")
    assert page.refused == ["https://cdn.example.org/x.js"]


def test_a_page_that_not_everybody_can_read_is_found_out(page, accessibility_problems):
    page.set_content(
        "<html lang='en'><title>x</title><main><h1>x</h1><p style='color:#ccc'>pale</p><img src='data:,'></main>"
    )
    assert sorted(problem.split(":")[0] for problem in accessibility_problems(page)) == [
        "color-contrast",
        "image-alt",
    ]
