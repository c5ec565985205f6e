"""`coursekit watch`: hand-ins are graded as they arrive, and their pages released."""

import pytest

from .watching import RIGHT, TRIPLE, exchange_of


@pytest.fixture
def exchange(generated, tmp_path):
    return exchange_of(generated, tmp_path / "exchange")


def test_hand_ins_are_graded_in_order_and_each_gets_its_page(exchange, capfd):
    first = exchange.hand_in("ada", TRIPLE)
    other = exchange.hand_in("ben", RIGHT)
    second = exchange.hand_in("ada", RIGHT)
    assert exchange.watch() == 0
    lines = [line.split(" ", 1)[1] for line in capfd.readouterr().out.splitlines()]
    assert [line.split(",")[0] for line in lines if "points" in line] == [
        "ada 01_double: 3 of 10 points",
        "ben 01_double: 10 of 10 points",
        "ada 01_double: 10 of 10 points",
    ]
    assert "You took three times the input." in exchange.page(first)
    assert "10 of 15 points" in exchange.page(other)
    assert "Attempt 2" in exchange.page(second)
    assert exchange.score("ada") == exchange.score("ben") == 10
    assert exchange.watch() == 0
    assert "points" not in capfd.readouterr().out
