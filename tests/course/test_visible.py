"""The tests that students see accept every known right answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradekit.course import Course

ROOT = Path(__file__).parents[2]
#: answers that the text doesn't allow, and that grading accepts all the same
FORGIVEN = {
    "03_attention_modules": {
        "self_other_initialisation": "the numbers that are drawn are others",
        "self_one_layer_for_all_three": "the text asks for three layers",
        "heads_width_from_output_dim": "it needs a SelfAttention that keeps its output_dim",
        "fused_one_layer_for_q_k_v": "the text asks for three layers",
    },
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [assignment.name for assignment in Course(ROOT).assignments()])
def test_the_visible_tests_accept_every_known_right_answer(name):
    done = subprocess.run(
        [sys.executable, ROOT / "tests/course/visible.py", name],
        env=os.environ | {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    refused = {line.split(":")[0] for line in done.stdout.splitlines()}
    assert refused == set(FORGIVEN.get(name, {})), done.stdout
