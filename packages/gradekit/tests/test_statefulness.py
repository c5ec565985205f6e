"""What a test that a student wrote can keep between two calls, as far as the notebook's text shows."""

import pytest

from gradekit.submission.statefulness import remembers_nothing

pytest.importorskip("torch")  # what the grader has not imported is not known

GIVEN = ("import math\nimport random\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F",)
PLAIN = "def check(f):\n    x = torch.randn(3, 4)\n    assert torch.allclose(f(x), F.softmax(x, dim=-1))\n"


@pytest.mark.parametrize(
    "source",
    [
        PLAIN,
        "LIMIT = 1e-6\n\ndef close(a, b):\n    return (a - b).abs().max() < LIMIT\n\n"
        "def check(f):\n    assert close(f(torch.ones(2)), torch.full((2,), 0.5))\n",
        "def check(f, limit=1e-6):\n    seen = set()\n    for count in range(9):\n        seen.add(f(count))\n"
        "    assert seen == {1, 2}, f'it returns {seen}'\n",
        "def check(f):\n    with torch.no_grad():\n        rows = [[random.random() for _ in range(3)] for _ in range(2)]\n"
        "    try:\n        f(rows)\n    except ValueError as error:\n        raise AssertionError('it raises') from error\n",
        "def check(f):\n    first = None\n\n    def once(x):\n        nonlocal first\n        first = x if first is None else first\n"
        "        return first\n\n    return bool((f(torch.ones(2)) == once(torch.ones(2))).all())\n",
        "import copy\nfrom collections import Counter\n\ndef check(f):\n    rows = [3, 4, 3]\n    given = copy.deepcopy(rows)\n"
        "    try:\n        f(rows)\n    except Exception as error:\n        raise AssertionError(type(error).__name__)\n"
        "    assert Counter(given) == Counter(rows)\n",
        "class Other(nn.Module):\n    def forward(self, input):\n        return self.__class__.__name__, input\n\n"
        + PLAIN,
        PLAIN
        + "class Layer(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.weight = nn.Linear(2, 3)\n",
    ],
)
def test_a_plain_test_remembers_nothing(source: str) -> None:
    assert remembers_nothing("check", GIVEN, (source,))


@pytest.mark.parametrize(
    "source",
    [
        "seen = []\n\ndef check(f):\n    seen.append(f(1))\n",
        "count = 0\n\ndef check(f):\n    global count\n    count += 1\n",
        "def check(f, seen=[]):\n    seen.append(f(1))\n",
        "def check(f, *, seen={}):\n    seen[1] = f(1)\n",
        "first = []\n\ndef other():\n    first.append(1)\n\ndef check(f):\n    other()\n",
        "def check(f):\n    check.seen = f(1)\n",
        "def check(f):\n    return check.seen\n",
        "def keep(g, x):\n    g.seen = x\n\ndef check(f):\n    keep(check, f(1))\n",
        "def check(f):\n    torch.seen = f(1)\n",
        "def check(f):\n    t = torch\n    t.seen = f(1)\n",
        "def check(f):\n    math.__dict__['seen'] = f(1)\n",
        "def check(f):\n    setattr(math, 'seen', f(1))\n",
        "def check(f):\n    vars(math)['seen'] = f(1)\n",
        "def check(f):\n    globals()['seen'] = f(1)\n",
        "def check(f):\n    exec('seen = 1', {})\n",
        "def check(f):\n    open('seen', 'a').write('x')\n",
        "def check(f):\n    torch.save(f(1), 'seen')\n",
        "def check(f):\n    g = (0 for _ in [1]).gi_frame.f_globals\n    g['seen'] = f(1)\n",
        "def check(f):\n    match F.softmax:\n        case object(__globals__=g):\n            g['seen'] = 1\n",
        "def check(f):\n    getattr(math.sqrt, 'self'.center(8, '_'))\n",
        "def check(f):\n    return getattr(f(1).grad_fn, 'seen')()\n",
        "def check(f):\n    return (torch.empty(5003) == 7.25).any()\n",
        "def check(f):\n    t = torch.asarray(b'abcd', dtype=torch.uint8)\n    t[0] += 1\n",
        "def check(f):\n    def held():\n        with torch.inference_mode():\n            yield 1\n    next(held())\n",
        "LIMIT = 1\n\ndef other(x=(LIMIT := [])):\n    pass\n\ndef check(f):\n    LIMIT.append(f(1))\n",
        "class A:\n    def globals(self):\n        pass\n\ndef check(f):\n    globals()['seen'] = 1\n",
        "import logging as m\nimport math as m\n\ndef check(f):\n    m.log(50)\n",
        "In [1]: LIMIT = {}\n" + PLAIN,
        "from unittest.mock import patch\n\npatch('torch.allclose', print).start()\n" + PLAIN,
        "nn.Linear.forward = lambda self, x: x\n" + PLAIN,
        "random.seed = lambda *_: None\n" + PLAIN,
        "import os\n\ndef check(f):\n    os.environ['SEEN'] = '1'\n",
        "import sys\n\ndef check(f):\n    sys.seen = 1\n",
        "import functools\n\n@functools.cache\ndef check(f):\n    return f(1)\n",
        "def made():\n    seen = []\n\n    def check(f):\n        seen.append(f(1))\n\n    return check\n\ncheck = made()\n",
        "class Check:\n    def __call__(self, f):\n        self.seen = f\n\ncheck = Check()\n",
        "numbers = iter(range(99))\n\ndef check(f):\n    assert next(numbers) < 9\n",
        "table = torch.zeros(3)\n\ndef check(f):\n    table.add_(1)\n",
        "def check(f):\n    torch.set_default_dtype(torch.float64)\n",
        "import copy\n\ndef check(f):\n    copy.dispatch_table[f(1)] = 1\n",
        "import numpy as np\n\ndef check(f):\n    np.typecodes[f(1)] = 1\n",
        "def check(f):\n    u = torch.utils\n    u.seen.append(f(1))\n",
        "def check(f):\n    functions = F\n    functions.relu(f(1))\n",
        "def check(f):\n    torch.autocast_increment_nesting()\n",
        "def check(f):\n    this is no code\n",
        "def other(f):\n    pass\n",
        PLAIN + "seen = []\ntorch.allclose = lambda a, b: seen.append(a) is None\n",
        PLAIN + "seen = []\nt = torch\nt.allclose = lambda a, b: seen.append(a) is None\n",
        PLAIN + "torch = object()\n",
        PLAIN + "def check(f):\n    pass\n",
        PLAIN + "import builtins\nbuiltins.range = 1\n",
        PLAIN.replace("torch.allclose", "close") + "def close(*_):\n    pass\n\nclose = print\n",
    ],
)
def test_whatever_could_remember_something_counts_as_if_it_did(source: str) -> None:
    assert not remembers_nothing("check", GIVEN, (source,))


def test_cells_that_were_handed_out_may_look_at_names_but_their_lists_can_be_filled() -> None:
    given = (*GIVEN, "examples = []\nassert 'x' in globals()")
    assert remembers_nothing("check", given, (PLAIN,))
    assert not remembers_nothing("check", given, ("def check(f):\n    examples.append(f)\n",))
