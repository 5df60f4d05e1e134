"""Named entities: train with labels on word pieces, predict a tag per word."""

import torch
from transformers import BertConfig, BertForTokenClassification, BertTokenizer

NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TEXTS = ["Anna Lindt lives in Hangzhou", "New Hamburg is near Hamburg"]
PIECES = """[PAD] [UNK] [CLS] [SEP] [MASK] anna lin ##dt lives in hang ##zhou
new ham ##burg is near"""
TAGS = ["B-PER I-PER O O B-LOC", "B-LOC I-LOC O O B-LOC"]


def align_labels(tokens, word_labels):
    """Put each word's label on its first piece, -100 everywhere else."""
    rows = torch.full((len(word_labels), len(tokens.word_ids(0))), -100)
    for i, labels in enumerate(word_labels):
        last = None  # also what [CLS] and [PAD] have
        for j, word in enumerate(tokens.word_ids(i)):
            if word is not None and word != last:
                rows[i, j] = labels[word]
            last = word
    return rows  # (N, L)


@torch.no_grad()
def predict_tags(model, tokenizer, words):
    """Return a tag for each word: that of its first piece, O without one."""
    batch = tokenizer(
        words, is_split_into_words=True, padding=True, return_tensors="pt"
    ).to(model.device)
    predicted = model.eval()(**batch).logits.argmax(-1)
    first = align_labels(batch, [range(len(row)) for row in words])
    rows = [["O"] * len(row) for row in words]
    for i, j in (first != -100).nonzero().tolist():
        rows[i][first[i, j]] = NAMES[predicted[i, j]]
    return rows


if __name__ == "__main__":
    torch.manual_seed(0)
    tokenizer = BertTokenizer({p: i for i, p in enumerate(PIECES.split())})
    config = BertConfig(hidden_size=24, num_hidden_layers=2, num_labels=5)
    model = BertForTokenClassification(config)
    words, tags = ([row.split() for row in rows] for rows in (TEXTS, TAGS))
    word_labels = [[NAMES.index(tag) for tag in row] for row in tags]
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)  # BERT: 2e-5
    for _ in range(30):
        tokens = tokenizer(
            words, is_split_into_words=True, padding=True, return_tensors="pt"
        ).to(model.device)
        labels = align_labels(tokens, word_labels).to(model.device)
        loss = model(**tokens, labels=labels).loss  # skips -100
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    new = [["Anna", "Lindt", "is", "in", "Hamburg"]]  # text without labels
    print(predict_tags(model, tokenizer, new))
