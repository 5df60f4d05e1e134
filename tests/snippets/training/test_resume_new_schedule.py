"""resume_new_schedule: the block, pasted into the answer of resume-training."""

import numpy as np
import pytest

from tests.helpers import ROOT
from tests.snippets.training.test_resume_training import ANSWER, folder, start

__all__ = ["folder"]  # a fixture


def test_more_epochs_than_planned_climb_again_unless_the_schedule_is_new(folder):
    """The pitfall, and the block below it, run where the page puts it."""
    start(4)
    old = start(8)["optimizer"].param_groups[0]["lr"]
    assert old == pytest.approx(0.1)  # T_max is 4: at 8 it is at the top again
    (folder / "last.pt").unlink()
    start(4)
    text = (ROOT / "snippets/training/resume_new_schedule.py").read_text("utf-8")
    block = text[text.index("for group in") : text.index("\nfor epoch in")]
    lines = ANSWER.text.splitlines(keepends=True)
    (loads,) = [n for n, line in enumerate(lines) if "scheduler.load" in line]
    del lines[loads]
    (says,) = [n for n, line in enumerate(lines) if line.startswith("print(")]
    longer = "".join([*lines[:says], block, *lines[says:]])
    planned = [0.01 * (1 + np.cos(k / 4 * np.pi)) / 2 for k in range(4)]
    saved = (folder / "last.pt").read_bytes()
    assert start(8, longer)["rates"] == pytest.approx(planned, abs=1e-9)
    # Interrupted again, after two of the four: the scheduler is loaded once more.
    (folder / "last.pt").write_bytes(saved)
    stopped = longer.replace("(start_epoch, epochs)", "(start_epoch, 6)")
    rates = start(8, stopped)["rates"] + start(8)["rates"]
    assert rates == pytest.approx(planned, abs=1e-9)
