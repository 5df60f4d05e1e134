"""Classify texts: average the vectors of their words, one linear layer."""

import random
import re

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
    """Yield pairs (text, class number)."""
    for i in range(n):
        words = random.choices(list(TOPICS.values())[i % 3].split(), k=2)
        words += random.choices(FILLER.split(), k=random.randint(2, 9))
        yield " ".join(random.sample(words, len(words))), i % 3


def tokenize(text):
    """Words in lower case, without punctuation."""
    return re.findall(r"\w+", text.lower())  # Chinese: jieba.lcut(text)


def encode(texts):
    """Ids (N, T), 0 is padding; unknown words are left out."""
    ids = [[vocab[w] for w in tokenize(t) if w in vocab] for t in texts]
    ids = [torch.tensor(i or [0]) for i in ids]  # 0: no word
    return nn.utils.rnn.pad_sequence(ids, batch_first=True)


random.seed(0)
torch.manual_seed(0)
train_set, num_classes = list(make_texts(600)), 3

words = {word for text, _ in train_set for word in tokenize(text)}
vocab = {word: i for i, word in enumerate(sorted(words), start=1)}
bag = nn.EmbeddingBag(len(vocab) + 1, 32, padding_idx=0)  # the mean
model = nn.Sequential(bag, nn.Linear(32, num_classes))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for epoch in range(4):
    for texts, labels in DataLoader(train_set, 32, shuffle=True):
        loss = F.cross_entropy(model(encode(texts)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss of the last batch {loss:.2f}")

texts, labels = zip(*make_texts(300), strict=True)
right = model(encode(texts)).argmax(1) == torch.tensor(labels)
print(f"accuracy on new texts {right.float().mean():.2f}, by chance 0.33")
print(list(TOPICS)[model(encode(["Snow and a storm"])).argmax()])
