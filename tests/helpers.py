"""What behaviour tests share: loading a snippet, reading its pages' errors."""

import importlib.util
import os
import random
import re
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

IMPORT_SECONDS = 60
ROOT = Path(__file__).parents[1]
ERROR_FENCE = re.compile(r"^```pytb\n(.*?)^```", re.MULTILINE | re.DOTALL)

ERROR_ROW = re.compile(r"^\| *(`+) ?(.+?) ?\1 *\|", re.MULTILINE)  # of a table


def load_snippet(path: str) -> ModuleType:
    """Import ``snippets/<path>`` without running its main guard."""
    file = ROOT / "snippets" / path
    name = f"snippet_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickle looks its classes up
    with unchanged_globals(), time_limit(IMPORT_SECONDS):
        try:
            spec.loader.exec_module(module)
        except SystemExit as leave:  # it would end pytest
            raise RuntimeError(f"{path} leaves when it is imported") from leave
    return module


@contextmanager
def unchanged_globals():
    """Undo what a snippet sets process-wide: seeds, switches, dtype, environment."""
    environment = dict(os.environ)
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()
    deterministic = torch.are_deterministic_algorithms_enabled()
    benchmark = torch.backends.cudnn.benchmark
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_grad_enabled(gradients)
        torch.set_default_dtype(dtype)
        torch.backends.cudnn.benchmark = benchmark
        torch.use_deterministic_algorithms(deterministic)
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(cpu)
        os.environ.clear()
        os.environ.update(environment)


@contextmanager
def time_limit(seconds: int):
    """Raise TimeoutError in what takes longer."""

    def stop(signum, frame):
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def documented_errors(page: str) -> list[str]:
    """Return the messages that a page shows in either language, e.g. ``data/x``."""
    files = [ROOT / "docs" / lang / f"{page}.md" for lang in ("en", "zh")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    assert texts, f"no page {page}.md"
    found = [error.strip() for text in texts for error in ERROR_FENCE.findall(text)]
    found += [row[1].replace("\\|", "|") for t in texts for row in ERROR_ROW.findall(t)]
    return list(dict.fromkeys(found))


@contextmanager
def raises_as_documented(page: str):
    """Expect an error that the page quotes, word for word, as its beginning."""
    with pytest.raises(Exception) as caught:  # noqa: PT011, any that is quoted
        yield caught
    raised = f"{caught.type.__name__}: {caught.value}"
    quoted = documented_errors(page)
    assert any(raised.startswith(text) for text in quoted), (
        f"{page}.md does not quote this error:\n{raised}"
    )
