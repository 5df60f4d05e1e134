"""Train a small student on the softened outputs of a trained teacher."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, new = torch.randn(2, 1000, 10)  # the batches of your loader; new inputs
teacher = nn.Sequential(nn.Linear(10, 256), nn.Tanh(), nn.Linear(256, 5))
student = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 5))
y = teacher(x).argmax(1)  # your labels; the teacher: your trained model
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
for _ in range(100):
    T, alpha = 4.0, 0.7  # temperature, share of the teacher
    teacher.eval()  # or its dropout makes the targets noisy
    with torch.no_grad():
        p = F.softmax(teacher(x) / T, dim=1)
    logits = student(x)
    log_q = F.log_softmax(logits / T, dim=1)
    soft = F.kl_div(log_q, p, reduction="batchmean") * T**2
    loss = alpha * soft + (1 - alpha) * F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert (student(new).argmax(1) == teacher(new).argmax(1)).float().mean() > 0.8
