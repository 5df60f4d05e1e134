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
    """The gains by slug, those of GPUs first; files with a fault are left out."""
    found: dict[str, list[Gain]] = {}
    for file in reversed(files(root)):
        if fault(file) is None:
            for slug, gain in _read(file):
                found.setdefault(slug, []).append(gain)
    return found


def files(root: Path) -> list[Path]:
    """The files of gains, believable or not."""
    return sorted((root / FOLDER).glob("*.json"))


def fault(file: Path) -> str | None:
    """Why a file does not count; None where it does."""
    try:
        _read(file)
    except (ValueError, TypeError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def _read(file: Path) -> list[tuple[str, Gain]]:
    run = json.loads(file.read_text("utf-8"))
    cores = f" ({run['cores']})" if run["cores"] else ""
    where = f"{run['device']}{cores}, torch {run['torch']}"
    return [(one["slug"], _gain(one, where)) for one in run["gains"]]


def _gain(one: dict, where: str) -> Gain:
    words = {lang: one[lang] for lang in ("en", "zh")}
    return Gain(where, words, one.get("speed"), one.get("memory"))
