"""Run one model in several threads, with one copy of its weights."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.set_num_threads(1)  # cores / threads, before the threads start
model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(), nn.Linear(64, 3))
inputs = list(torch.randn(8, 16, 64))  # eight batches


def predict(x):
    """Any thread may call it."""
    with torch.inference_mode():  # in the thread that computes
        return model(x)


model.eval()  # once: all threads share the model and its mode
with ThreadPoolExecutor(2) as pool:  # 2 threads
    outputs = list(pool.map(predict, inputs))  # in the order of inputs

torch.testing.assert_close(outputs, [model(x) for x in inputs])
with torch.no_grad(), ThreadPoolExecutor(1) as pool:
    enabled = pool.submit(torch.is_grad_enabled).result()
print("under no_grad, a new thread records gradients:", enabled)
