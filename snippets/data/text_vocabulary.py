"""Build a vocabulary from the training texts; turn texts into padded ids."""

from collections import Counter

import torch
from torch.nn.utils.rnn import pad_sequence

train = ["The cat sat on the mat", "the dog sat on the cat"]
test = ["the bird sat", "dog"]

count = Counter(word for text in train for word in text.lower().split())
words = [word for word, n in count.most_common() if n >= 2]
vocab = {word: i for i, word in enumerate(["<pad>", "<unk>", *words])}
ids = [[vocab.get(word, 1) for word in text.lower().split()] for text in test]
batch = pad_sequence([torch.tensor(x).long() for x in ids], batch_first=True)

print(vocab)
print(batch.tolist())  # (B, T): 0 is <pad>, 1 is <unk>
back = list(vocab)
print([[back[i] for i in row] for row in batch.tolist()])
