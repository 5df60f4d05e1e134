"""Fine-tune a transformers model in a plain PyTorch loop."""

import torch
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertTokenizer,
    DataCollatorWithPadding,
)


def write_tiny_bert(folder):
    """Stand in for a download: an untrained model of ten words."""
    tokenizer = BertTokenizer(model_max_length=512)
    tokenizer.add_tokens(["a", "bad", "film", "good", "so"])
    tokenizer.save_pretrained(folder)
    config = BertConfig(vocab_size=10, hidden_size=24, num_hidden_layers=2)
    model = AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)


torch.manual_seed(0)
name = "tiny-bert"  # yours: "bert-base-uncased"
write_tiny_bert(name)
texts = ["a good film", "so bad", "so good", "a bad film"]
labels = [1, 0, 1, 0]  # yours: numbers from 0
lr, epochs = 2e-3, 20  # yours: 2e-5 and 3

tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForSequenceClassification.from_pretrained(
    name, num_labels=2, dtype=torch.float32
)
device = torch.accelerator.current_accelerator(check_available=True) or "cpu"
model.to(device)
data = [
    {**tokenizer(text, truncation=True), "label": label}
    for text, label in zip(texts, labels, strict=True)
]
pad = DataCollatorWithPadding(tokenizer)
loader = DataLoader(data, batch_size=16, shuffle=True, collate_fn=pad)
optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
model.train()  # from_pretrained leaves it in eval mode
for _ in range(epochs):
    for batch in loader:
        loss = model(**batch.to(device)).loss  # the batch has labels
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

model.save_pretrained("finetuned")
tokenizer.save_pretrained("finetuned")
model = AutoModelForSequenceClassification.from_pretrained("finetuned")
batch = tokenizer(texts, padding=True, return_tensors="pt")
with torch.no_grad():
    print(model(**batch).logits.argmax(1).tolist())
