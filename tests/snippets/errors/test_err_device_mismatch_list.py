"""err-device-mismatch, its list: a layer on the meta device, counted by hand."""

from collections import Counter

from tests.helpers import load_snippet


def test_parameters_and_buffers_are_counted(capsys):
    snippet = load_snippet("errors/err_device_mismatch_list.py")
    # A weight, a bias and the mean: all have moved.
    assert capsys.readouterr().out == f"{Counter(meta=3)}\n"
    assert [tuple(p.shape) for p in snippet.model.parameters()] == [(4, 4), (4,)]
