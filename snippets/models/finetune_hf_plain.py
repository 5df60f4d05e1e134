"""Fine-tune a transformers model in a plain PyTorch loop."""

import torch
import transformers
from transformers import AutoModelForSequenceClassification, AutoTokenizer

DATA = {"a good film": 1, "so bad": 0, "so good": 1, "a bad film": 0}


def load():
    """Build a tiny BERT, without a download. In your code instead:"""
    # tokenizer = AutoTokenizer.from_pretrained(name)
    # model = AutoModelForSequenceClassification.from_pretrained(
    #     name, num_labels=2)
    tokenizer = transformers.BertTokenizer(model_max_length=512)
    tokenizer.add_tokens(["a", "bad", "film", "good", "so"])
    config = transformers.BertConfig(
        vocab_size=10, hidden_size=24, num_hidden_layers=2
    )
    return tokenizer, AutoModelForSequenceClassification.from_config(config)


def train(model, tokenizer, data, optimizer, epochs):
    """Train on texts that are tokenized; each has its label."""
    pad = transformers.DataCollatorWithPadding(tokenizer)
    loader = torch.utils.data.DataLoader(data, 2, shuffle=True, collate_fn=pad)
    model.train()  # from_pretrained leaves it in eval mode
    for _ in range(epochs):
        for batch in loader:
            # The batch has labels: the model computes the loss.
            model(**batch.to(model.device)).loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def main():
    """Train, save and load again."""
    torch.manual_seed(0)
    tokenizer, model = load()
    model.to(torch.accelerator.current_accelerator(True) or "cpu")
    data = [{**tokenizer(x, truncation=True), "label": DATA[x]} for x in DATA]
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)  # BERT: 2e-5
    train(model, tokenizer, data, optimizer, epochs=10)

    model.save_pretrained("finetuned")
    tokenizer.save_pretrained("finetuned")
    model = AutoModelForSequenceClassification.from_pretrained("finetuned")
    tokenizer = AutoTokenizer.from_pretrained("finetuned")
    batch = tokenizer(list(DATA), padding=True, return_tensors="pt")
    print(model(**batch).logits.argmax(1).tolist())


if __name__ == "__main__":
    main()
