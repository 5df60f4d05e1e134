"""err-scheduler-order: each skipped step keeps its rate; rates worked by hand."""

import pytest

from tests.helpers import load_snippet


def test_the_guard_keeps_the_rate_of_skipped_steps(capsys):
    snippet = load_snippet("errors/err_scheduler_order_amp.py")
    printed = [float(x.split()[-1]) for x in capsys.readouterr().out.splitlines()]
    skipped = printed.count(0.001)
    assert 0 < skipped < 8
    expected = [0.001 * 0.5**n for n in range(1, 9 - skipped)]
    assert printed[skipped:] == pytest.approx(expected, abs=1e-6)
    assert snippet.scaler.get_scale() == 2.0 ** (126 - skipped)
