"""Every attack in the sandbox; and that attacks are real."""

import pytest

from attacks.attack import NBGRADER, NONE, SANDBOX, Attack
from attacks.catalogue import ATTACKS
from attacks.play import play

#: quick ones, each by another witness; `make attacks` asserts the proofs of all
PROVEN_WITHOUT = ["reads-the-hidden-checks", "calls-a-port-of-the-host", "leaves-a-process", "leaves-a-file"]
PROVEN_IN_NBGRADER = ["strips-asserts-from-the-syntax-tree", "displays-html-with-a-script"]


@pytest.fixture(scope="module")
def in_sandbox() -> dict[str, str]:
    """What each attack got; most of them are one class."""
    return play(ATTACKS, SANDBOX)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_sandbox_repels(attack: Attack, in_sandbox: dict[str, str]):
    assert not in_sandbox[attack.name].lstrip("-").startswith("not run")
    assert in_sandbox[attack.name] == ""


def test_without_a_sandbox_attacks_get_what_they_want():
    got = play([attack for attack in ATTACKS if attack.name in PROVEN_WITHOUT], NONE)
    assert len(got) == len(PROVEN_WITHOUT) and all(got.values()), got


def test_in_plain_nbgrader_attacks_get_what_they_want():
    got = play([attack for attack in ATTACKS if attack.name in PROVEN_IN_NBGRADER], NBGRADER)
    assert len(got) == len(PROVEN_IN_NBGRADER) and all(got.values()), got


def test_names_are_unique_and_each_attack_says_what_it_tries():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 45
    assert all(attack.aim.strip() for attack in ATTACKS)


def test_each_attack_is_proven_somewhere_or_says_why_not():
    """One that is never run unprotected, or needs nothing but to be survived, has no proof."""
    for attack in ATTACKS:
        assert set(attack.proofs) <= {NONE, NBGRADER} - set(attack.unfit)
        assert not (attack.harmful and attack.proofs)
