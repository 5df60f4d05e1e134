"""Turn the ids of words, or of categories, into vectors that are trained."""

import torch
from torch import nn

vocab = {"<pad>": 0, "<unk>": 1, "cat": 2, "dog": 3, "axolotl": 4}
ids = torch.tensor([[3, 1, 2, 0]])  # (N, T), int64: dog <unk> cat <pad>

embedding = nn.Embedding(len(vocab), 8, padding_idx=0)  # 0: the id of <pad>
vectors = embedding(ids)  # (N, T, 8)

vectors.sum().backward()
for word, grad in zip(vocab, embedding.weight.grad, strict=True):
    print(f"{word:8} gradient {grad[0]:.0f} in each of {len(grad)} numbers")
