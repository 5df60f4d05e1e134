"""What recipes gain, as benchmarks/gains.py measured it: one file per device."""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("verified", "gains")


@dataclass(frozen=True)
class Gain:
    """A ratio or two, and what they are of."""

    where: str  # the device, and the release of torch
    words: dict[str, str]  # by language
    speed: float | None  # times as fast
    memory: float | None  # the usual way needs so many times as much


def load(root: Path) -> dict[str, list[Gain]]:
    """The gains by slug, those of GPUs first."""
    found: dict[str, list[Gain]] = {}
    for file in sorted((root / FOLDER).glob("*.json"), reverse=True):
        run = json.loads(file.read_text("utf-8"))
        cores = f" ({run['cores']})" if run["cores"] else ""
        where = f"{run['device']}{cores}, torch {run['torch']}"
        for one in run["gains"]:
            words = {lang: one[lang] for lang in ("en", "zh")}
            ratios = one.get("speed"), one.get("memory")
            found.setdefault(one["slug"], []).append(Gain(where, words, *ratios))
    return found
