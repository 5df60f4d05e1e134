"""Run one model in several threads, with one copy of its weights."""

from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


def predict_in_threads(model, inputs, workers=2):
    """Run the model on each input; the outputs come in the same order."""

    def predict(x):
        with torch.inference_mode():  # in the thread that computes
            return model(x)

    model.eval()  # for all threads: it belongs to the model
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(predict, inputs))


if __name__ == "__main__":
    torch.set_num_threads(1)  # cores / workers, before the threads start
    model = nn.Sequential(nn.Linear(64, 64), nn.Dropout(), nn.Linear(64, 3))
    inputs = list(torch.randn(8, 16, 64))  # eight batches
    outputs = predict_in_threads(model, inputs)
    torch.testing.assert_close(outputs, [model(x) for x in inputs])

    with torch.no_grad(), ThreadPoolExecutor(1) as pool:
        enabled = pool.submit(torch.is_grad_enabled).result()
    print("under no_grad, a new thread records gradients:", enabled)
