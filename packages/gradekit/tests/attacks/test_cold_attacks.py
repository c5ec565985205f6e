"""The attacks that are about the kernel, in a sandbox that is made for each kernel."""

import pytest

from .attack import COLD, Attack
from .catalogue import ATTACKS
from .play import play

pytestmark = pytest.mark.thorough
#: what takes its time is played cold by `make attacks`
COLD_ONES = [attack for attack in ATTACKS if attack.kernel and not attack.slow]


@pytest.fixture(scope="module")
def in_cold_sandbox() -> dict[str, str]:
    return play(COLD_ONES, COLD)


@pytest.mark.parametrize("attack", COLD_ONES, ids=lambda attack: attack.name)
def test_a_cold_sandbox_repels(attack: Attack, in_cold_sandbox: dict[str, str]):
    assert in_cold_sandbox[attack.name] == ""
