"""A measure beside its target, and how measures are shown."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A figure; its target reads ``<= 40`` or ``>= 25``, or is absent."""

    name: str
    value: float
    unit: str = ""
    target: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if not self.target:
            return None
        sign, limit = self.target.split()
        reached = {">=": self.value >= float(limit), "<=": self.value <= float(limit)}
        return reached[sign]

    def row(self) -> list[str]:
        """The measure's cells in the table."""
        value = f"{self.value:.3g} {self.unit}".strip()
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return [self.name, value, self.target, verdict]


def say(text: str) -> None:
    """Report progress, apart from the table."""
    print(text, file=sys.stderr, flush=True)


def show(measures: Iterable[Measure]) -> int:
    """Print the table; 0 where every target is met."""
    measures = list(measures)
    rows = [["measure", "value", "target", ""], *(m.row() for m in measures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print()
    for row in rows:
        print("  ".join(map(str.ljust, row, widths)).rstrip())
    return int(any(m.met is False for m in measures))
