"""Build a vocabulary from the training texts; turn texts into padded ids."""

import re
from collections import Counter

import torch
from torch.nn.utils.rnn import pad_sequence

train_texts = ["The cat sat on the mat.", "The dog sat on the cat."]
texts = ["the bird sat.", "dog"]


def tokenize(text):
    """Words and punctuation in lower case: "Mat." gives "mat" and "."."""
    return re.findall(r"<\w+>|\w+|[^\w\s]", text.lower())


count = Counter(word for text in train_texts for word in tokenize(text))
words = [word for word, n in count.most_common() if n >= 2]
vocab = {w: i for i, w in enumerate(dict.fromkeys(["<pad>", "<unk>", *words]))}
unknown, ids = vocab["<unk>"], []
for text in texts:
    row = [vocab.get(word, unknown) for word in tokenize(text)]
    ids.append(torch.tensor(row, dtype=torch.int64))
batch = pad_sequence(ids, batch_first=True)  # (B, T)

print(vocab)
print(batch.tolist())  # 0 is <pad>, 1 is <unk>
back = list(vocab)
print([[back[i] for i in row] for row in batch.tolist()])
