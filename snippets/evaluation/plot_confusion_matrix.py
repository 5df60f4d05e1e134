"""Draw which class is taken for which."""

import matplotlib.pyplot as plt
import torch
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix

names = ["cat", "dog", "bird"]  # yours: a list, names[i] is that of class i
target = torch.tensor([0] * 50 + [1] * 50 + [2] * 50)  # (N,)
wrong = torch.tensor([1] * 11 + [2] + [0] * 7 + [2] + [0] * 2 + [1] * 3)
pred = target.clone()  # (N,): logits.argmax(1)
pred[[*range(12), *range(50, 58), *range(100, 105)]] = wrong

C = len(names)
cm = confusion_matrix(target.cpu(), pred.cpu(), labels=range(C))  # rows: true
assert cm.sum() == (target != -100).sum(), "a class is not in 0 to C - 1"
ConfusionMatrixDisplay(cm, display_labels=names).plot(cmap="Blues")
plt.savefig("plot_confusion_matrix.svg")
print(cm)
