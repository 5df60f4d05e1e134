"""lightning-loop: the same training by hand; what is kept, loaded and resumed."""

import copy
import logging
import runpy
import warnings
from pathlib import Path

import lightning as L
import pandas as pd
import pytest
import pytorch_lightning
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/lightning-loop"
snippet = load_snippet("training/lightning_loop.py")
Classifier = snippet.Classifier
MANY = "lightning.pytorch.trainer.connectors.data_connector.suggested_max_num_workers"
pytestmark = pytest.mark.filterwarnings(
    r"ignore:`isinstance\(treespec, LeafSpec\)` is deprecated:FutureWarning"
)
torch.manual_seed(1)
X = torch.randn(40, 2)
Y = (X.norm(dim=1) > 1.2).long()
DATA = TensorDataset(X, Y)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for part in ("PROGRESS_BAR", "MODEL_SUMMARY"):
        monkeypatch.setenv(f"PL_TRAINER_ENABLE_{part}", "True")  # the snippet sets it
    monkeypatch.setattr(MANY, lambda *_: 1)  # as on a machine of two cores
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(0)


def trainer(**options):
    quiet = dict.fromkeys(
        ["logger", "enable_progress_bar", "enable_model_summary"], False
    )
    keep = any(type(c) is ModelCheckpoint for c in options.get("callbacks", []))
    quiet |= {"accelerator": "cpu", "max_epochs": 2, "enable_checkpointing": keep}
    return L.Trainer(**quiet | options)


@pytest.fixture
def loader():
    return DataLoader(DATA, 16)  # 16, 16 and 8


def vector(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def test_the_snippet_loads_what_it_kept(capfd):
    names = runpy.run_path(snippet.__file__, run_name="__main__")
    path, model = names["best"].best_model_path, names["model"]
    score = names["best"].best_model_score.item()
    said = f"kept the epoch with val_loss {score:.2f}\n"
    assert capfd.readouterr().out == said
    saved = torch.load(path, weights_only=True)["state_dict"]
    torch.testing.assert_close(saved, dict(model.state_dict()))
    data = names["val_set"]
    x, y = (torch.stack(part) for part in zip(*data, strict=True))
    model = model.cpu()
    with torch.no_grad():
        loss = F.cross_entropy(model.net(x), y)
        right = (model.net(x).argmax(1) == y).float().mean()
    # The last batch has 8 samples, not 32: it counts as 8.
    torch.testing.assert_close(names["best"].best_model_score.cpu(), loss)
    assert right > 0.9


def test_the_loop_is_the_plain_one(loader):
    model = Classifier(hidden=8, lr=0.1)
    hand = copy.deepcopy(model.net)
    run = trainer(max_epochs=3)
    run.fit(model, loader, loader)
    optimizer = torch.optim.AdamW(hand.parameters(), lr=0.1)
    for _ in range(3):
        losses = []
        for x, y in loader:
            loss = F.cross_entropy(hand(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses += [loss.item()] * len(y)
    torch.testing.assert_close(vector(model.net), vector(hand))
    with torch.no_grad():
        expected = F.cross_entropy(hand(X), Y)
    torch.testing.assert_close(run.callback_metrics["val_loss"], expected)
    shown = run.callback_metrics["train_loss"].item()
    assert shown == pytest.approx(sum(losses) / len(losses), rel=1e-5)


class Told(Classifier):
    """Its validation losses are given."""

    losses = (3.0, 1.0, 2.0)

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.losses[self.current_epoch])


class Weights(Callback):
    def __init__(self):
        self.after = {}

    def on_train_epoch_end(self, trainer, module):
        self.after[trainer.current_epoch] = vector(module)


@pytest.mark.parametrize(("mode", "epoch"), [("min", 1), ("max", 0)])
def test_the_best_epoch_is_kept(loader, mode, epoch):
    best, weights = ModelCheckpoint(monitor="val_loss", mode=mode), Weights()
    model = Told(hidden=8)
    trainer(max_epochs=3, callbacks=[best, weights]).fit(model, loader, loader)
    assert best.best_model_path.endswith(
        f"checkpoints/epoch={epoch}-step={3 + 3 * epoch}.ckpt"
    )
    loaded = Told.load_from_checkpoint(best.best_model_path)
    assert loaded.hparams == {"hidden": 8, "lr": 0.02}
    assert loaded.training  # until model.eval()
    torch.testing.assert_close(vector(loaded), weights.after[epoch])
    assert not torch.equal(vector(loaded), vector(model))


def test_the_modes_and_the_check_before_training(loader):
    seen = []

    class Notes(Classifier):
        def loss(self, x, y):
            seen.append((self.training, torch.is_grad_enabled()))
            return super().loss(x, y)

    trainer(max_epochs=1).fit(Notes(), loader, loader)
    train, check = (True, True), (False, False)
    assert seen == [check] * 2 + [train] * 3 + [check] * 3
    seen.clear()
    trainer(max_epochs=1, num_sanity_val_steps=0).fit(Notes(), loader, loader)
    assert seen == [train] * 3 + [check] * 3


def test_both_curves_share_an_axis(loader):
    log = CSVLogger(".")
    run = trainer(max_epochs=3, logger=log, log_every_n_steps=1)
    run.fit(Classifier(), loader, loader)
    table = pd.read_csv(f"{log.log_dir}/metrics.csv")
    table = table.groupby("epoch")[["train_loss", "val_loss"]].mean()
    assert list(table.index) == [0, 1, 2]
    assert table.notna().all(axis=None)
    last = table.loc[2, "val_loss"]
    assert last == pytest.approx(run.callback_metrics["val_loss"].item(), rel=1e-4)


@pytest.mark.parametrize(("interval", "steps"), [(None, 1), ("step", 3)])
def test_a_scheduler_steps_after_an_epoch_unless_told(loader, interval, steps):
    class Scheduled(Classifier):
        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), lr=1.0)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
            if interval:
                scheduler = {"scheduler": scheduler, "interval": interval}
            assert self.trainer.estimated_stepping_batches == 3  # batches times epochs
            return {"optimizer": optimizer, "lr_scheduler": scheduler}

    run = trainer(max_epochs=1)
    run.fit(Scheduled(), loader, loader)
    assert run.optimizers[0].param_groups[0]["lr"] == 0.5**steps


class Pair(Classifier):
    def configure_optimizers(self):
        return [torch.optim.SGD([p], lr=0.5) for p in self.net[0].parameters()]


def test_several_optimizers(loader):
    with raises_as_documented(PAGE, "RuntimeError: Training with multiple"):
        trainer().fit(Pair(), loader, loader)

    class Manual(Pair):
        def __init__(self):
            super().__init__()
            self.automatic_optimization = False

        def training_step(self, batch, batch_idx):
            for optimizer in self.optimizers():
                optimizer.zero_grad()
                self.manual_backward(self.loss(*batch))
                optimizer.step()

    model = Manual()
    hand = copy.deepcopy(model.net)
    trainer(max_epochs=1, limit_train_batches=1).fit(model, loader, loader)
    x, y = next(iter(loader))
    for p in hand[0].parameters():
        (gradient,) = torch.autograd.grad(F.cross_entropy(hand(x), y), p)
        with torch.no_grad():
            p -= 0.5 * gradient
    torch.testing.assert_close(vector(model.net), vector(hand))


@pytest.mark.filterwarnings("ignore:Checkpoint directory:UserWarning")
def test_resuming_counts_the_old_epochs(loader):
    def last():
        return ModelCheckpoint("kept", save_last=True)

    trainer(callbacks=[last()]).fit(Classifier(), loader, loader)
    after = Weights()
    run = trainer(max_epochs=4, callbacks=[after, last()])
    run.fit(Classifier(), loader, loader, ckpt_path="kept/last.ckpt")
    assert list(after.after) == [2, 3]
    none = Weights()
    run = trainer(max_epochs=2, callbacks=[none, last()])
    start = "MisconfigurationException: You restored a checkpoint with"
    with raises_as_documented(PAGE, start):
        run.fit(Classifier(), loader, loader, ckpt_path="kept/last.ckpt")
    assert not none.after


class Keeps(L.LightningModule):
    training_step = Classifier.training_step
    loss = Classifier.loss

    def __init__(self, net, kept=True):
        super().__init__()
        self.save_hyperparameters(ignore=["net"] if kept else [])
        self.net = net

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Bare(L.LightningModule):
    training_step = Classifier.training_step
    loss = Classifier.loss

    def __init__(self, hidden):
        super().__init__()
        self.net = snippet.make_net(hidden)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def saved(model, loader):
    run = trainer(max_epochs=1)
    run.fit(model, loader)
    run.save_checkpoint("model.ckpt")
    return "model.ckpt"


def test_loading_needs_the_arguments(loader):
    path = saved(Bare(8), loader)
    with raises_as_documented(PAGE, "TypeError: Bare.__init__() missing 1"):
        Bare.load_from_checkpoint(path)
    loaded = Bare.load_from_checkpoint(path, hidden=8)
    assert loaded.net[0].out_features == 8
    with pytest.raises(TypeError, match="cannot be called on an instance"):
        loaded.load_from_checkpoint(path, hidden=8)


def test_a_network_as_an_argument(loader):
    model = Keeps(snippet.make_net(4))
    path = saved(model, loader)
    loaded = Keeps.load_from_checkpoint(path, net=snippet.make_net(4))
    torch.testing.assert_close(vector(loaded), vector(model))
    with pytest.warns(UserWarning, match="It is recommended to ignore them using"):
        model = Keeps(snippet.make_net(4), kept=False)
    path = saved(model, loader)
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load failed."):
        Keeps.load_from_checkpoint(path)
    with pytest.warns(UserWarning, match="It is recommended to ignore them using"):
        loaded = Keeps.load_from_checkpoint(path, weights_only=False)
    torch.testing.assert_close(vector(loaded), vector(model))


def test_workers_are_asked_for(loader, monkeypatch):
    monkeypatch.setattr(MANY, lambda *_: 7)
    with raises_as_documented(PAGE, "PossibleUserWarning: The 'train_dataloader'"):
        trainer().fit(Bare(8), loader)


class Mixed(pytorch_lightning.LightningModule):
    pass


def test_other_messages(loader):
    start = "MisconfigurationException: `ModelCheckpoint(monitor='val_acc')`"
    with raises_as_documented(PAGE, start):
        best = ModelCheckpoint(monitor="val_acc")
        trainer(callbacks=[best]).fit(Classifier(), loader, loader)

    with raises_as_documented(PAGE, "TypeError: `model` must be a"):
        trainer().fit(Mixed(), loader)
    with raises_as_documented(PAGE, "TypeError: Trainer.__init__() got"):
        L.Trainer(gpus=1)
    with pytest.raises(TypeError, match="argument 'resume_from_checkpoint'"):
        L.Trainer(resume_from_checkpoint="x.ckpt")

    class Old(Classifier):
        def training_epoch_end(self, outputs):
            raise NotImplementedError

    with raises_as_documented(PAGE, "NotImplementedError: Support for"):
        trainer().fit(Old(), loader, loader)
    Path("checkpoints").mkdir()
    Path("checkpoints/old.ckpt").touch()
    with raises_as_documented(PAGE, "UserWarning: Checkpoint directory"):
        best = ModelCheckpoint(monitor="val_loss")
        trainer(callbacks=[best]).fit(Classifier(), loader, loader)


def test_lengths_that_differ():
    batch = {"text": torch.zeros(3), "x": X[:4], "y": Y[:4]}
    loader = DataLoader([batch], None)

    class Named(Classifier):
        size = 4

        def training_step(self, batch, batch_idx):
            loss = self.loss(batch["x"], batch["y"])
            self.log("loss", loss, on_epoch=True, batch_size=self.size)
            return loss

    with warnings.catch_warnings(action="ignore"):
        warnings.filterwarnings("error", ".*ambiguous collection")
        trainer().fit(Named(), loader)
        Named.size = None
        with raises_as_documented(PAGE, "UserWarning: Trying to infer"):
            trainer().fit(Named(), loader)


def test_a_warning_of_lightning_itself(loader):
    with warnings.catch_warnings(action="error"):
        start = "FutureWarning: `isinstance(treespec"
        with raises_as_documented(PAGE, start):
            trainer().fit(Bare(8), loader)
