"""Build a vocabulary from the training texts; turn texts into padded ids."""

from collections import Counter

import torch
from torch.nn.utils.rnn import pad_sequence

train_texts = ["The cat sat on the mat", "the dog sat on the cat"]
texts = ["the bird sat", "dog"]

count = Counter(word for text in train_texts for word in text.lower().split())
words = [word for word, n in count.most_common() if n >= 2]
vocab = {w: i for i, w in enumerate(dict.fromkeys(["<pad>", "<unk>", *words]))}
unknown, ids = vocab["<unk>"], []
for text in texts:
    row = [vocab.get(word, unknown) for word in text.lower().split()]
    ids.append(torch.tensor(row, dtype=torch.int64))
batch = pad_sequence(ids, batch_first=True)  # (B, T)

print(vocab)
print(batch.tolist())  # 0 is <pad>, 1 is <unk>
back = list(vocab)
print([[back[i] for i in row] for row in batch.tolist()])
