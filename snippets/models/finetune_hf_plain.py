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


def tiny_bert(folder="tiny-bert"):
    """Write a tiny BERT and its tokenizer, without a download."""
    tokenizer = BertTokenizer(model_max_length=512)
    tokenizer.add_tokens(["a", "bad", "film", "good", "so"])
    config = BertConfig(vocab_size=10, hidden_size=24, num_hidden_layers=2)
    tokenizer.save_pretrained(folder)
    model = AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    return folder


def train(model, tokenizer, data, optimizer, epochs, batch_size=16):
    """Train on texts that are tokenized; each has its label."""
    pad = DataCollatorWithPadding(tokenizer)
    loader = DataLoader(data, batch_size, shuffle=True, collate_fn=pad)
    model.train()  # from_pretrained leaves it in eval mode
    for _ in range(epochs):
        for batch in loader:
            # The batch has labels: the model computes the loss.
            model(**batch.to(model.device)).loss.backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    name = tiny_bert()  # yours: "google-bert/bert-base-uncased"
    texts = [("a good film", 1), ("so bad", 0), ("so good", 1), ("bad", 0)]
    lr, epochs = 2e-3, 60  # yours: 2e-5 and 3

    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForSequenceClassification.from_pretrained(
        name, num_labels=2, dtype=torch.float32
    ).to(device)  # float32, since bfloat16 rounds small steps away
    data = [{**tokenizer(x, truncation=True), "label": y} for x, y in texts]
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    train(model, tokenizer, data, optimizer, epochs)
    model.save_pretrained("finetuned")
    tokenizer.save_pretrained("finetuned")

    model = AutoModelForSequenceClassification.from_pretrained("finetuned")
    batch = tokenizer([x for x, _ in texts], padding=True, return_tensors="pt")
    with torch.inference_mode():
        print(model(**batch).logits.argmax(1).tolist())
