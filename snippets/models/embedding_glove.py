"""Start an embedding from the vectors of a GloVe file."""

from pathlib import Path

import torch
from torch import nn

Path("vectors.txt").write_text("cat .1 .2 .3\nfly .7 .8 .9\ndog .4 .5 .6\n")
path, C = "vectors.txt", 3  # yours: "glove.6B.100d.txt" and 100
vocab = {"<pad>": 0, "<unk>": 1, "cat": 2, "dog": 3, "axolotl": 4}

embedding = nn.Embedding(len(vocab), C, padding_idx=0)
found = 0
with torch.no_grad(), Path(path).open(encoding="utf-8") as file:
    embedding.weight.mul_(0.1)  # small numbers for words without a vector
    for line in file:
        word, *numbers = line.rstrip().rsplit(" ", C)
        if word in vocab:
            vector = torch.tensor([float(n) for n in numbers])
            embedding.weight[vocab[word]] = vector
            found += 1
assert found, f"no word of vocab with {C} numbers in {path}"
print(found, "of", len(vocab), "words found")
