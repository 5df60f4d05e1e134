"""Measure two ways of one thing side by side in one process: what gains.py lists."""

import json
import platform
import statistics
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch
from torch.utils.benchmark import Timer

from cookbook.book import gains, records

ROOT = Path(__file__).parents[1]
ROUNDS = 5


def speed(before: Callable, after: Callable) -> float:
    """How many times as fast: medians of alternating rounds, after a warm-up."""
    timers = [
        Timer("f()", globals={"f": f}, num_threads=torch.get_num_threads())
        for f in (before, after)
    ]
    for f in (before, after, before, after):
        f()
    rounds = [
        [timer.blocked_autorange(min_run_time=0.2).median for timer in timers]
        for _ in range(ROUNDS)
    ]
    usual, ours = (statistics.median(times) for times in zip(*rounds, strict=True))
    return usual / ours


def first_call(before: Callable, after: Callable) -> float:
    """How many times as fast, where a thing is done once."""
    times = []
    for f in (before, after):
        started = time.perf_counter()
        f()
        times.append(time.perf_counter() - started)
    return times[0] / times[1]


def memory(before: Callable, after: Callable) -> float:
    """How many times as much GPU memory the usual way takes at its peak."""
    peaks = []
    for f in (before, after):
        f()  # libraries and compilers take theirs
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
        f()
        peaks.append(torch.cuda.max_memory_allocated() - held)
    return peaks[0] / peaks[1]


@dataclass(frozen=True)
class Gain:
    """One line of a page: what is measured, in both languages."""

    slug: str
    measures: dict[Callable, str]  # each with the devices on which it is taken
    words: dict
    ways: Callable

    def measured_on(self, device: torch.device) -> bool:
        return any(device.type in devices for devices in self.measures.values())

    def taken(self, device: torch.device) -> dict:
        """Measure it."""
        before, after, numbers = self.ways(device)
        words = {lang: text.format(**numbers) for lang, text in self.words.items()}
        ratios = {
            "memory" if measure is memory else "speed": rounded(measure(before, after))
            for measure, devices in self.measures.items()
            if device.type in devices
        }
        return {"slug": self.slug, **words, **ratios}


def rounded(ratio: float) -> float:
    """Two digits: more would not be the same tomorrow."""
    return float(f"{ratio:.2g}")


GAINS: list[Gain] = []


def gain(slug: str, measures: dict[Callable, str], en: str, zh: str) -> Callable:
    """Take a function that returns both ways in."""

    def note(ways: Callable) -> Callable:
        GAINS.append(Gain(slug, measures, {"en": en, "zh": zh}, ways))
        return ways

    return note


def main(slugs: list[str]) -> int:
    """Measure, print and save; 1 where something could not be measured."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    asked = [one for one in GAINS if not slugs or one.slug in slugs]
    found = [tried(one, device) for one in asked if one.measured_on(device)]
    save(device, [one for one in found if one])
    return int(None in found)


def tried(one: Gain, device: torch.device) -> dict | None:
    """What it gains; None where it fails: the others can be measured."""
    torch.manual_seed(0)
    torch.compiler.reset()
    try:
        taken = one.taken(device)
    except Exception:
        traceback.print_exc()
        return None
    print(*taken.values(), sep=" | ", flush=True)
    return taken


def cpu() -> str:
    """What matters of a CPU: without AVX-512, bfloat16 is fifty times slower."""
    return f"CPU with {torch.backends.cpu.get_cpu_capability()}"


def save(device: torch.device, found: list[dict]) -> None:
    """Write them into the device's file; what was not measured stays as it is."""
    name = torch.cuda.get_device_name() if device.type == "cuda" else cpu()
    file = ROOT / gains.FOLDER / f"{records.device_slug(name)}.json"
    done = {one["slug"] for one in found}
    kept = []
    if file.exists() and gains.fault(file) is None:
        old = json.loads(file.read_text("utf-8"))["gains"]
        kept = [one for one in old if one["slug"] not in done]
    document = {
        "device": name,
        "cores": torch.get_num_threads() if device.type == "cpu" else None,
        "torch": torch.__version__.partition("+")[0],
        "python": platform.python_version(),
        "date": datetime.now(UTC).date().isoformat(),
        "gains": kept + found,
    }
    records.write_whole(file, document)
