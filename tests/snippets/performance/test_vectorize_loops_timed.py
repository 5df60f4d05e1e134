"""vectorize-loops: what is timed gives the same, and the loop takes longer."""

import torch

from tests.helpers import load_snippet

SNIPPET = "performance/vectorize_loops_timed.py"


def test_what_is_timed_gives_the_same():
    snippet = load_snippet(SNIPPET)
    assert len(snippet.loops) == 3
    for loop, call in snippet.loops.items():
        data, other = (
            {**snippet.data, "torch": torch, "sums": torch.zeros(10, 8)}
            for _ in range(2)
        )
        if loop.startswith("for"):
            exec(loop, data)
            exec(call, other)
            found, expected = other["sums"], data["sums"]
        else:
            found, expected = eval(call, data), torch.stack(eval(loop, data))
        torch.testing.assert_close(
            found.flatten(), expected.flatten(), rtol=1e-4, atol=1e-4
        )


def test_what_is_printed(capsys):
    snippet = load_snippet(SNIPPET)
    lines = capsys.readouterr().out.splitlines()
    expected = [f"{c}: over 20 times faster, True" for c in snippet.loops.values()]
    assert lines == expected
    assert snippet.slow > 20 * snippet.fast
