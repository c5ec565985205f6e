"""Every attack in the sandbox; and that attacks are real."""

import pytest

from .attack import NBGRADER, NBGRADER_SANDBOXED, NONE, SANDBOX, Attack
from .catalogue import ATTACKS, THEMES
from .play import play

#: quick ones, each by another witness; `make attacks` asserts the proofs of all
PROVEN_WITHOUT = ["reads-the-hidden-checks", "calls-a-port-of-the-host", "leaves-a-process", "leaves-a-file"]
PROVEN_IN_NBGRADER = ["strips-asserts-from-the-syntax-tree", "displays-html-with-a-script"]
#: of those that get what they want in plain nbgrader, one that a sandbox around its kernel stops, and one that it doesn't
STOPPED, NOT_STOPPED = "reads-the-instructors-solution", "strips-asserts-from-the-syntax-tree"
#: none of these attacks is about time, and a machine may be slow
SLACK = 10


#: of each theme, this many are among the slow tests
FIRST = 1


def marked_attacks() -> list[pytest.ParameterSet]:
    found = []
    for attacks in THEMES.values():
        for number, attack in enumerate(attacks):
            when = pytest.mark.thorough if number >= FIRST or attack.slow else pytest.mark.slow
            found.append(pytest.param(attack, id=attack.name, marks=when))
    return found


@pytest.fixture(scope="module")
def in_sandbox(request: pytest.FixtureRequest) -> dict[str, str]:
    """What each attack of this test run got; most of them are one class."""
    played = [
        item.callspec.params["attack"] for item in request.session.items if "in_sandbox" in item.fixturenames
    ]
    return play(played, SANDBOX)


@pytest.mark.parametrize("attack", marked_attacks())
def test_the_sandbox_repels(attack: Attack, in_sandbox: dict[str, str]):
    assert not in_sandbox[attack.name].lstrip("-").startswith("not run")
    assert in_sandbox[attack.name] == ""


@pytest.mark.thorough
def test_without_a_sandbox_attacks_get_what_they_want():
    got = play([attack for attack in ATTACKS if attack.name in PROVEN_WITHOUT], NONE, SLACK)
    assert len(got) == len(PROVEN_WITHOUT) and all(got.values()), got


@pytest.mark.thorough
def test_in_plain_nbgrader_attacks_get_what_they_want():
    got = play([attack for attack in ATTACKS if attack.name in PROVEN_IN_NBGRADER], NBGRADER, SLACK)
    assert len(got) == len(PROVEN_IN_NBGRADER) and all(got.values()), got


@pytest.mark.thorough
def test_a_sandbox_around_the_kernel_of_nbgrader_stops_only_some_attacks():
    chosen = [attack for attack in ATTACKS if attack.name in (STOPPED, NOT_STOPPED)]
    got = play(chosen, NBGRADER_SANDBOXED, SLACK)
    assert (got[STOPPED], bool(got[NOT_STOPPED])) == ("", True), got


def test_names_are_unique_and_each_attack_says_what_it_tries():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 45
    assert all(attack.aim.strip() for attack in ATTACKS)


def test_each_attack_is_proven_somewhere_or_says_why_not():
    """One that is never run unprotected, or needs nothing but to be survived, has no proof."""
    for attack in ATTACKS:
        assert set(attack.proofs) <= {NONE, NBGRADER} - set(attack.unfit)
        assert not (attack.harmful and attack.proofs)
