"""err-device-mismatch, its list: a layer on the meta device, counted by hand."""

from collections import Counter

from tests.helpers import load_snippet


def test_parameters_and_buffers_are_counted(capsys):
    snippet = load_snippet("errors/err_device_mismatch_list.py")
    # Weight and bias of the first; of the second also mean, variance, and a count.
    assert capsys.readouterr().out == f"{Counter(meta=5, cpu=2)}\n"
    shapes = [tuple(p.shape) for p in snippet.model.parameters()]
    assert shapes == [(4, 4), (4,), (4,), (4,)]
