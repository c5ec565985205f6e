"""Which tests start first."""

import pytest

LONGEST_FIRST = (
    "test_stress.py",  # keeps the machine busy, so it runs beside the audit, which allows for that
    "test_audit.py",
    "test_attacks.py",
    "test_sample_class.py",
    "test_notebooks.py",
    "test_cold_attacks.py",
    "test_hub.py",
    "test_formgrader.py",
    "test_guides.py",
    "test_feedback_page.py",
    "test_class_report.py",
    "test_new.py",
    *(
        "test_quickstart.py",
        "test_starting.py",
        "test_watch.py",
        "test_defend.py",
        "test_advice.py",
        "test_workers.py",
    ),
    *(
        "test_other_systems.py",
        "test_watch_best.py",
        "test_watch_faults.py",
        "test_viva.py",
        "test_report.py",
    ),
    *("test_needed_code.py", "test_public_cases.py", "test_tries.py", "test_revise.py", "test_regrade.py"),
    *("test_git_watch.py", "test_lti_watch.py", "test_http_watch.py", "test_kernels.py", "test_view.py"),
)


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.path.name == "test_audit.py":
        item.add_marker("audit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes starts first, so that several workers end at about the same time."""
    order = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))
