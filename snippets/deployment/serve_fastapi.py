"""Serve a classifier over HTTP: the model is loaded once, for all requests."""

from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import torch
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field
from torch import nn

torch.manual_seed(0)
app = FastAPI()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
# model.load_state_dict(torch.load("model.pth", weights_only=True))
model.eval()

Row = Annotated[list[float], Field(min_length=4, max_length=4)]


class Batch(BaseModel):
    """What a request holds."""

    rows: list[Row] = Field(min_length=1, max_length=64)


@app.post("/predict")
def predict(batch: Batch):  # not async: each call gets a thread
    """Return the label of every row."""
    with torch.inference_mode():
        logits = model(torch.tensor(batch.rows))  # (N, 3)
    return {"labels": logits.argmax(1).tolist()}


if __name__ == "__main__":
    bodies = [{"rows": [[N, 3.5, 1.4, 0.2]] * N} for N in range(1, 9)]
    bad = {"rows": [[5.1, 3.5]]}  # two numbers, not four
    with TestClient(app) as client, ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda b: client.post("/predict", json=b), bodies)
        print([len(answer.json()["labels"]) for answer in answers])
        answer = client.post("/predict", json=bad)
        print(answer.status_code, answer.json()["detail"][0]["msg"])
