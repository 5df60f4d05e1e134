"""Turn token ids into vectors: learned ones, or GloVe and word2vec."""

import torch
from torch import nn

vocab = {"<pad>": 0, "<unk>": 1, "cat": 2, "dog": 3, "axolotl": 4}
text = ["dog", "zebra", "cat"]
ids = [vocab.get(word, vocab["<unk>"]) for word in text] + [vocab["<pad>"]]
ids = torch.tensor([ids])  # (N, T), int64

learned = nn.Embedding(len(vocab), 3, padding_idx=0)  # N(0, 1), row 0 is zero

pretrained = {"cat": [0.1, 0.2, 0.3], "dog": [0.4, 0.5, 0.6]}  # word: vector
weight = 0.1 * torch.randn(len(vocab), 3)  # for words without a vector
weight[0] = 0  # from_pretrained does not do that
for word in pretrained.keys() & vocab.keys():
    weight[vocab[word]] = torch.tensor(pretrained[word])
embedding = nn.Embedding.from_pretrained(weight, freeze=False, padding_idx=0)

x = embedding(ids)  # (N, T, C)
x.sum().backward()
for word, grad in zip(vocab, embedding.weight.grad, strict=True):
    print(f"{word:8} gradient {grad.tolist()}")
