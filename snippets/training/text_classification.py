"""Classify texts: average the vectors of their words, one linear layer."""

import random

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

TOPICS = {
    "food": "soup bread cheese oven salt butter taste kitchen spoon",
    "sport": "team goal match coach score player stadium race medal",
    "weather": "rain wind cloud storm snow sun fog degrees thunder",
}
FILLER = "the a of and was with very after today we had for some"


def make_texts(n):
    """Yours instead: a list of (text, class number)."""
    samples = []
    for i in range(n):
        words = random.choices(list(TOPICS.values())[i % 3].split(), k=2)
        words += random.choices(FILLER.split(), k=random.randint(2, 9))
        samples.append((" ".join(random.sample(words, len(words))), i % 3))
    return samples


random.seed(0)
torch.manual_seed(0)
train, test = make_texts(600), make_texts(300)
words = {word for text, _ in train for word in text.lower().split()}
vocab = {word: i for i, word in enumerate(sorted(words), start=1)}


def encode(texts):
    """Ids (N, T), 0 is padding; unknown words are left out."""
    ids = [[vocab[w] for w in t.lower().split() if w in vocab] for t in texts]
    ids = [torch.tensor(i or [0]) for i in ids]  # 0: no word
    return nn.utils.rnn.pad_sequence(ids, batch_first=True)


def collate(samples):
    """Make ids (N, T) and labels (N,) of a list of samples."""
    texts, labels = zip(*samples, strict=True)
    return encode(texts), torch.tensor(labels)


bag = nn.EmbeddingBag(len(vocab) + 1, 32, padding_idx=0)  # the mean
model = nn.Sequential(bag, nn.Linear(32, 3))  # 3 classes
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(4):
    for ids, labels in DataLoader(train, 32, shuffle=True, collate_fn=collate):
        loss = F.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
ids, labels = collate(test)
accuracy = (model(ids).argmax(1) == labels).float().mean()
print(f"accuracy on new texts {accuracy:.2f}")
print(list(TOPICS)[model(encode(["Snow and a storm"])).argmax()])
