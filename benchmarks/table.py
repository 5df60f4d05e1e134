"""A measure beside its target, and how measures are shown."""

import sys
from collections.abc import Iterable
from typing import NamedTuple


class Measure(NamedTuple):
    """A figure; its target reads ``<= 40``, or is absent."""

    name: str
    value: float
    unit: str = ""
    target: str = ""


def say(text: str) -> None:
    """Report progress, apart from the figures."""
    print(text, file=sys.stderr, flush=True)


def show(measures: Iterable[Measure]) -> int:
    """Print a line per measure; 0 where every target is met."""
    code = 0
    for one in measures:
        missed = one.target and one.value > float(one.target.split()[1])
        verdict = "MISSED" if missed else ""
        print(f"{one.value:10.3g} {one.unit:6} {one.target:7} {verdict:7} {one.name}")
        code = 1 if missed else code
    return code
