"""Turn token ids into vectors that start as those of a GloVe file."""

from pathlib import Path

import torch
from torch import nn

path, C = "vectors.txt", 3  # yours: "glove.6B.100d.txt" and 100
Path(path).write_text("cat .1 .2 .3\nfly .7 .8 .9\ndog .4 .5 .6\n")
vocab = {"<pad>": 0, "<unk>": 1, "cat": 2, "dog": 3, "axolotl": 4}

weight = 0.1 * torch.randn(len(vocab), C)  # for words without a vector
weight[0] = 0  # <pad>
with Path(path).open(encoding="utf-8") as file:
    for line in file:
        word, *numbers = line.rstrip().rsplit(" ", C)
        if word in vocab:
            weight[vocab[word]] = torch.tensor([float(n) for n in numbers])
embedding = nn.Embedding.from_pretrained(weight, freeze=False, padding_idx=0)

ids = torch.tensor([[3, 1, 2, 0]])  # dog <unk> cat <pad>, (N, T), int64
embedding(ids).sum().backward()  # (N, T, C)
for word, grad in zip(vocab, embedding.weight.grad, strict=True):
    print(f"{word:8} gradient {grad.tolist()}")
