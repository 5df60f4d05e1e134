"""Weight the classes in the loss of a Hugging Face Trainer."""

import torch
from torch.nn.functional import cross_entropy
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
)

torch.manual_seed(0)
config = BertConfig(vocab_size=10, hidden_size=24, num_hidden_layers=1)
model = BertForSequenceClassification(config)
rows = torch.randint(10, (200, 2)).tolist()
train_set = [{"input_ids": row, "label": int(9 in row)} for row in rows]
pin = torch.cuda.is_available()
args = TrainingArguments("runs", learning_rate=5e-3, dataloader_pin_memory=pin)

counts = torch.bincount(torch.tensor([row["label"] for row in train_set]))
weights = counts.sum() / (len(counts) * counts)


def weighted_loss(outputs, labels, num_items_in_batch):
    """Return the weighted sum over the number of labels."""
    w = weights.to(labels.device)
    loss = cross_entropy(outputs.logits, labels, w, reduction="sum")
    return loss / num_items_in_batch


trainer = Trainer(
    model, args, train_dataset=train_set, compute_loss_func=weighted_loss
)
trainer.train()

rare = [row for row in train_set if row["label"] == 1]
found = trainer.predict(rare).predictions.argmax(1)
print(f"{found.mean():.0%} of the rare class found")
