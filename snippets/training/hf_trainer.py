"""Train a transformers model with Trainer and keep its best epoch."""

import random

import torch
from transformers import (
    AutoModelForSequenceClassification,
    BertConfig,
    BertTokenizer,
    Trainer,
    TrainingArguments,
)

random.seed(0)
torch.manual_seed(0)
words = ["a", "bad", "film", "good", "so"]
tokenizer = BertTokenizer(model_max_length=512)
tokenizer.add_tokens(words)
config = BertConfig(vocab_size=10, hidden_size=24, num_hidden_layers=1)
model = AutoModelForSequenceClassification.from_config(config)


def make_data(n):
    """Return tokenized texts; the label says whether "good" is in it."""
    texts = [" ".join(random.choices(words, k=4)) for _ in range(n)]
    return [
        {**tokenizer(text, truncation=True), "label": int("good" in text)}
        for text in texts
    ]


train_set, val_set = make_data(200), make_data(50)

args = TrainingArguments(
    output_dir="runs",
    learning_rate=5e-3,  # yours: 2e-5 for BERT
    eval_strategy="epoch",
    save_strategy="epoch",
    logging_strategy="epoch",
    load_best_model_at_end=True,
    dataloader_pin_memory=torch.cuda.is_available(),
)
trainer = Trainer(
    model,
    args,
    train_dataset=train_set,
    eval_dataset=val_set,
    processing_class=tokenizer,
    compute_metrics=lambda p: {
        "accuracy": (p.predictions.argmax(1) == p.label_ids).mean()
    },
)
trainer.train()

trainer.save_model("best")
print(trainer.state.best_model_checkpoint)
