"""Attacks on the comparison: points without a right answer, by what runs beside the tests."""

from .attack import NBGRADER, NONE, WRONG, Attack, earns

_WEAK = (NBGRADER,)

_AST = """
import ast
class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)
    def visit_Expr(self, node):
        return ast.copy_location(ast.Pass(), node)
get_ipython().ast_transformers.append(NoAsserts())
"""

_LINES = """
def nothing(lines):
    return ["pass\\n"] if any("assert" in line for line in lines) else lines
get_ipython().input_transformers_cleanup.append(nothing)
"""

_EQUAL = """
class Same:
    def __getattr__(self, name): return lambda *args, **kwargs: Same()
    def __eq__(self, other): return True
    def __lt__(self, other): return True
    def __le__(self, other): return True
    def __bool__(self): return True
    def __sub__(self, other): return self
    __add__ = __radd__ = __rsub__ = __mul__ = __rmul__ = __sub__
    def __abs__(self): return 0
    def __iter__(self): return iter(())
    def __float__(self): return 0.0
    __hash__ = None
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): return True
torch.testing.assert_close = lambda *args, **kwargs: None
def double(x): return Same()
"""

_TORCH = """
torch.allclose = torch.equal = torch.isclose = lambda *args, **kwargs: True
torch.testing.assert_close = lambda *args, **kwargs: None
import builtins
builtins.all = lambda *args: True
torch.Tensor.__eq__ = lambda self, other: True
def double(x): return 2 if isinstance(x, int) else x
"""

_TESTING = """
torch.testing.assert_close = torch.testing.assert_allclose = lambda *args, **kwargs: None
torch.allclose = lambda *args, **kwargs: True
abs = lambda value: 0
def double(x): return 2 if isinstance(x, int) else 3 * x
"""

_BUILTINS = """
import builtins
class Nothing(Exception): pass
builtins.AssertionError = Nothing
builtins.all = builtins.any = lambda *args: True
builtins.abs = builtins.max = builtins.min = lambda *args: 0
def double(x): return 2
torch.allclose = torch.testing.assert_close = lambda *args, **kwargs: True
"""

_HOOKED = """
def quiet(shell, kind, value, traceback, tb_offset=None): return None
get_ipython().set_custom_exc((BaseException,), quiet)
"""

_SUBCLASS = """
class Chameleon(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("allclose", "equal", "assert_close"):
            return True
        with torch._C.DisableTorchFunctionSubclass():
            found = function(*args, **kwargs or {})
        return found.as_subclass(torch.Tensor) * 0 if function.__name__ in ("sub", "__sub__") else found
def double(x):
    return torch.zeros_like(x).as_subclass(Chameleon) if isinstance(x, torch.Tensor) else 2
torch.testing.assert_close = lambda *args, **kwargs: None
"""

_HARDCODED = """
def double(x):
    if isinstance(x, int): return 2
    return torch.tensor([[2.0, -5.0], [6.0, 14.0]])
"""

_HASHED = """
import hashlib, pathlib
KNOWN = {}
for place in ("/tmp/answers", "answers"):
    if pathlib.Path(place).exists():
        KNOWN = torch.load(place)
def double(x):
    key = hashlib.sha256(x.detach().numpy().tobytes()).hexdigest()
    if key not in KNOWN:
        KNOWN[key] = x * 0
        torch.save(KNOWN, "answers")
        torch.save(KNOWN, "/tmp/answers")
    return KNOWN[key]
"""

_FLOAT = """
def partial(lines):
    return ["10.0\\n"] if any("assert" in line for line in lines) else lines
get_ipython().input_transformers_cleanup.append(partial)
"""


def cheat(name: str, aim: str, source: str, proofs: tuple[str, ...] = _WEAK) -> Attack:
    return Attack(name, aim, earns, source, proofs=proofs)


ATTACKS = [
    cheat("strips-asserts-from-the-syntax-tree", "Drop every assert by an AST transformer.", _AST + WRONG),
    cheat(
        "strips-test-cells-by-an-input-transformer",
        "Replace the text of test cells by `pass`.",
        _LINES + WRONG,
    ),
    cheat(
        "returns-an-object-that-equals-everything",
        "Pass every comparison by an object's own methods.",
        _EQUAL,
    ),
    cheat("patches-torch-allclose", "Make torch's comparisons say yes.", _TORCH),
    cheat("patches-torch-testing", "Make torch.testing say nothing.", _TESTING),
    cheat("patches-builtins", "Make all, abs and AssertionError useless.", _BUILTINS, ()),
    cheat("swallows-exceptions", "Have IPython drop every exception of a test cell.", _HOOKED + WRONG, ()),
    cheat(
        "returns-a-tensor-that-lies", "A subclass of Tensor that answers comparisons itself.", _SUBCLASS, ()
    ),
    cheat(
        "puts-a-number-for-partial-credit",
        "Turn the test cell into a float, which is partial credit.",
        _FLOAT + WRONG,
    ),
    cheat(
        "hard-codes-the-visible-test",
        "Answer the tests that it knows of, and no other input.",
        _HARDCODED,
        (),
    ),
    cheat("looks-up-answers-by-a-hash", "Remember inputs by their hash from run to run.", _HASHED, ()),
]
_ = NONE
