"""A wrapped model's file, through the pages on state dicts, into a new run."""

import runpy
from collections import OrderedDict

import torch
from torch import nn

from tests.chains.pasted import answer, load, save_checkpoint
from tests.helpers import ROOT

SAVE = "training/save_checkpoint.py"
BEST = "training/save_best_model.py"
RESUME = "training/resume_training.py"
MAP = "models/map_location.py"
STRIP = "models/strip_module_prefix.py"
PARTIAL = "models/load_partial_weights.py"


def test_the_pages_one_after_another_in_one_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for snippet in (RESUME, MAP, STRIP, PARTIAL, RESUME, SAVE, BEST):
        runpy.run_path(str(ROOT / "snippets" / snippet), run_name="__main__")
    assert load(tmp_path / "checkpoints" / "best.pt")["epoch"] < 39
    for file in tmp_path.rglob("*.pt"):
        assert load(file)
    assert not list(tmp_path.rglob("*.tmp"))


def classifier(classes):
    """A model whose head depends on the number of classes."""
    layers = {"body": nn.Linear(4, 8), "fc": nn.Linear(8, classes)}
    return nn.Sequential(OrderedDict(layers))


def test_a_wrapped_checkpoint_becomes_the_start_of_another_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrapped = nn.DataParallel(torch.compile(classifier(1000)))
    optimizer = torch.optim.Adam(wrapped.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    last = tmp_path / "checkpoints" / "last.pt"
    saving = {}
    exec(save_checkpoint(), saving)
    saving["save_checkpoint"](last, 0, 0.5, wrapped, optimizer, scheduler)

    # Another script: read on the CPU, take the prefixes off, load all but the head.
    model = classifier(5)
    names = {"weights": load(last)["model_state_dict"], "model": classifier(1000)}
    exec(answer("strip-module-prefix"), names)
    torch.save(names["bare"], "pretrained.pt")
    names["model"] = model
    exec(answer("load-partial-weights"), names)
    assert names["missing"] == ["fc.weight", "fc.bias"]
    assert names["unexpected"] == []
    assert torch.equal(model.body.weight, wrapped.module.body.weight)

    # It is saved in turn, and a third script resumes it.
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    saving["save_checkpoint"](last, 0, 0.5, model, optimizer, scheduler)
    resumed = {"model": classifier(5), "epochs": 1}
    resumed["optimizer"] = torch.optim.Adam(resumed["model"].parameters())
    resumed["scheduler"] = torch.optim.lr_scheduler.StepLR(resumed["optimizer"], 1)
    exec(answer("resume-training"), resumed)
    assert resumed["start_epoch"] == 1
    assert torch.equal(resumed["model"].body.weight, wrapped.module.body.weight)
    assert torch.equal(resumed["model"].fc.weight, model.fc.weight)
    assert resumed["optimizer"].param_groups[0]["lr"] == 0.5


def test_weights_of_another_device_load_as_map_location_shows(tmp_path, monkeypatch):
    """The file of a run serves for predicting, on whatever device there is."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "snippets" / RESUME))
    torch.save(load("checkpoints/last.pt")["model_state_dict"], "weights.pt")
    names = {"model": nn.Linear(1, 1), "device": torch.device("cpu")}
    exec(answer("map-location"), names)
    assert torch.equal(names["model"].weight.cpu(), names["weights"]["weight"])
