"""Named entities: labels of words on word pieces, F1 of whole entities."""

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


def entities(rows):
    """Return a set of (row, kind, first word, word after the last)."""
    found = set()
    for n, tags in enumerate(rows):
        kind, start = "", 0
        for i, tag in enumerate([*tags, "O"]):
            if tag != f"I-{kind}":  # the last entity ends, a new one may start
                if kind:
                    found.add((n, kind, start, i))
                kind, start = tag[2:], i  # "" after O
    return found


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
    predicted = model.eval()(**tokens).logits.argmax(-1)
    rows = [["O"] * len(row) for row in words]  # a word without pieces: O
    for i, j in (labels != -100).nonzero().tolist():
        rows[i][tokens.token_to_word(i, j)] = NAMES[predicted[i, j]]
    found, true = entities(rows), entities(tags)
    print("F1", 2 * len(found & true) / (len(found) + len(true)))
