import importlib
import sys

from attacks import play as p

mode, *mods = sys.argv[1:]
for m in mods:
    A = importlib.import_module("attacks."+m).ATTACKS
    proofs = {a.name: a.proofs for a in A}
    for k, v in p.play(A, mode).items():
        print(f"{mode:9} {k:50} {v or 'repelled'} {'' if mode not in proofs[k] or (v and v[0]!='-') else 'PROOF FAILED'}")
