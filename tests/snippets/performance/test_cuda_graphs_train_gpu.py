"""cuda-graphs, training: a stand-in for the graphs; the loss falls."""

import torch

from tests.helpers import ROOT

SNIPPET = ROOT / "snippets/performance/cuda_graphs_train_gpu.py"
SOURCE = SNIPPET.read_text("utf-8").replace('"cuda"', '"cpu"')


def test_training(monkeypatch):
    samples = []

    def graphed(model, sample_args):
        samples.append(sample_args)
        return model

    monkeypatch.setattr(torch.cuda, "make_graphed_callables", graphed)
    names = {}
    exec(SOURCE, names)
    ((sample,),) = samples
    x = names["x"]
    assert (sample.shape, sample.requires_grad) == (x.shape, x.requires_grad)
    assert sample.data_ptr() != x.data_ptr()
    losses = torch.stack(names["losses"])
    assert (losses.diff() < 0).all()
    assert not losses.requires_grad
