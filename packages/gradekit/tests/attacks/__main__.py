"""Plays every attack in every mode, and prints one table: `make attacks`.

python -m attacks [MODE...] [--only WORD] [--slack TIMES]
"""

import argparse
import sys
import time

from .attack import COLD, MODES, SANDBOX
from .catalogue import ATTACKS, THEMES
from .play import REPELLED, play


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modes", nargs="*", metavar="MODE", help=", ".join(MODES))
    parser.add_argument("--only", default="", help="attacks whose name or theme holds this word")
    parser.add_argument("--slack", type=int, default=1, help="multiply time limits, on a busy machine")
    options = parser.parse_args()
    modes = options.modes or list(MODES)
    chosen = [a for theme, attacks in THEMES.items() for a in attacks if options.only in f"{theme} {a.name}"]
    found = {}
    for mode in modes:
        started = time.monotonic()
        found[mode] = {name: _words(got) for name, got in play(chosen, mode, options.slack).items()}
        print(f"{mode}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    _print_table(found, modes, {attack.name for attack in chosen})
    unproven = [
        (a.name, m) for a in chosen for m in modes if m in a.proofs and not found[m][a.name].startswith("got")
    ]
    for name, mode in unproven:
        print(f"not proven: {name} should get what it wants in mode {mode}")
    guarded = [mode for mode in modes if mode in (SANDBOX, COLD)]
    got = [name for mode in guarded for name, words in found[mode].items() if words.startswith("got")]
    return 1 if got or unproven else 0


def _words(got: str) -> str:
    return got[1:] if got.startswith("-") else f"got it: {got}" if got else REPELLED


def _got_of_played(found: list[str]) -> str:
    played = [words for words in found if words == REPELLED or words.startswith("got")]
    return f"{len(played) - played.count(REPELLED)} of {len(played)}" if played else ""


def _print_table(found: dict[str, dict[str, str]], modes: list[str], names: set[str]) -> None:
    print("| attack | what it tries | " + " | ".join(modes) + " |\n|" + "---|" * (2 + len(modes)))
    for attack in ATTACKS:
        if attack.name in names:
            row = " | ".join(found[mode][attack.name] for mode in modes)
            print(f"| {attack.name} | {attack.aim} | {row} |")
    print("\n| theme | " + " | ".join(modes) + " |\n|" + "---|" * (1 + len(modes)))
    for theme, attacks in THEMES.items():
        counts = [_got_of_played([found[mode][a.name] for a in attacks if a.name in names]) for mode in modes]
        print(f"| {theme} | " + " | ".join(counts) + " |")
    print()
    for mode in modes:
        words = [text.split(":")[0] for text in found[mode].values()]
        print(f"{mode}: " + ", ".join(f"{words.count(kind)} {kind}" for kind in dict.fromkeys(sorted(words))))


if __name__ == "__main__":
    sys.exit(main())
