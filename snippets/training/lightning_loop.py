"""Train with PyTorch Lightning and load the best epoch."""

import os
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", "`isinstance", FutureWarning)  # Lightning's
for part in "PROGRESS_BAR", "MODEL_SUMMARY":  # yours: leave both on
    os.environ[f"PL_TRAINER_ENABLE_{part}"] = "False"


def make_net(hidden):
    """Return a small classifier of points."""
    return nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 2))


class Classifier(L.LightningModule):
    """A network, its loss and its optimizer."""

    def __init__(self, hidden=32, lr=0.02):
        super().__init__()
        self.save_hyperparameters()
        self.net = make_net(hidden)  # yours

    def loss(self, x, y):
        return cross_entropy(self.net(x), y)

    def training_step(self, batch, batch_idx):
        loss = self.loss(*batch)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(*batch), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1000, 2)
    data = TensorDataset(x, (x.norm(dim=1) > 1.2).long())
    train_set, val_set = torch.utils.data.random_split(data, [800, 200])
    workers = {"num_workers": 2, "persistent_workers": True}
    train_loader = DataLoader(train_set, 32, shuffle=True, **workers)
    val_loader = DataLoader(val_set, 32, **workers)

    best = ModelCheckpoint(monitor="val_loss")
    trainer = L.Trainer(max_epochs=5, callbacks=[best], logger=False)
    trainer.fit(Classifier(), train_loader, val_loader)
    model = Classifier.load_from_checkpoint(best.best_model_path)

    print(f"kept the epoch with val_loss {best.best_model_score:.2f}")
