"""Fine-tune a transformers model in a plain PyTorch loop."""

import torch
from torch.utils.data import DataLoader
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
    BertTokenizer,
    DataCollatorWithPadding,
)


def save_tiny_bert(folder):
    """Write what a download gives: a tokenizer and a model."""
    tokenizer = BertTokenizer(model_max_length=512)
    tokenizer.add_tokens(["a", "bad", "film", "good", "so"])
    tokenizer.save_pretrained(folder)
    size = {"vocab_size": 10, "hidden_size": 24, "num_hidden_layers": 2}
    BertModel(BertConfig(**size)).save_pretrained(folder)


if __name__ == "__main__":
    torch.manual_seed(0)
    name = "tiny-bert"  # yours: "bert-base-uncased"
    save_tiny_bert(name)
    texts = ["a good film", "so bad", "so good", "a bad film"]
    labels, classes = [1, 0, 1, 0], 2  # labels: 0 ... classes - 1
    lr, epochs = 2e-3, 30  # yours: 2e-5 and 3

    gpu = torch.accelerator.current_accelerator(check_available=True)
    device = gpu or "cpu"
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForSequenceClassification.from_pretrained(
        name, num_labels=classes, dtype=torch.float32
    ).to(device)
    data = [
        {**tokenizer(text, truncation=True), "label": label}
        for text, label in zip(texts, labels, strict=True)
    ]
    pad = DataCollatorWithPadding(tokenizer)
    loader = DataLoader(data, batch_size=16, shuffle=True, collate_fn=pad)
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    model.train()  # from_pretrained leaves it in eval mode
    for _ in range(epochs):
        for batch in loader:
            loss = model(**batch.to(device)).loss  # the batch has labels
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    model.save_pretrained("finetuned")
    tokenizer.save_pretrained("finetuned")
    model = AutoModelForSequenceClassification.from_pretrained("finetuned")
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    with torch.no_grad():  # the model is in eval mode
        print(model(**batch).logits.argmax(1).tolist())
