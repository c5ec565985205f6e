"""Formulas in MathML: the spaces that TeX puts around names of functions."""

import re

_NAME = re.compile(
    r"(?P<first><mrow>|<mtd>|<mstyle>)?(?:<mo>(?P<operator>[A-Za-z]{2,})</mo>|<mi>(?P<known>cos|sin|log|ln|exp|max|min)</mi>)"
    r"(?P<called>(?=<mo[^>]*>(?:\(|&#x00028;)))?"
)
_THIN = "0.167em"


def spaced(mathml: str) -> str:
    """Put a thin space before the name of a function, and one after it unless a parenthesis follows.

    latex2mathml writes the name as a variable, which has no space, or as an operator, which has too much. A hidden minus sign
    has the width of one that is seen.
    """
    hidden = mathml.replace("<mphantom><mrow><mo>", '<mphantom><mrow><mo form="prefix">')
    return _NAME.sub(_written, hidden)


def _written(name: re.Match[str]) -> str:
    first = name["first"] or ""
    before = "0" if first else _THIN
    after = "0" if name["called"] is not None else _THIN
    text = name["operator"] or name["known"]
    return f'{first}<mo form="prefix" lspace="{before}" rspace="{after}">{text}</mo>'
