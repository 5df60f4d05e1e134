"""Serve a classifier over HTTP: the model is loaded once, for all requests."""

from concurrent.futures import ThreadPoolExecutor

import torch
from fastapi import FastAPI
from fastapi.exceptions import HTTPException
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
# model.load_state_dict(torch.load("model.pth", weights_only=True))

app = FastAPI()
model.eval()


@app.post("/predict")
def predict(rows: list[list[float]]):  # not async: each call gets a thread
    """Return the label of every row."""
    if not 1 <= len(rows) <= 64 or any(len(row) != 4 for row in rows):
        raise HTTPException(422, "send 1 to 64 rows of 4 numbers")  # yours
    with torch.inference_mode():
        logits = model(torch.tensor(rows))  # (N, 3)
    if not logits.isfinite().all():  # argmax would give some label
        raise HTTPException(422, "a number is NaN or too large")
    return {"labels": logits.argmax(1).tolist()}


if __name__ == "__main__":
    from fastapi.testclient import TestClient

    bodies = [[[N, 3.5, 1.4, 0.2]] * N for N in range(1, 9)]
    with TestClient(app) as client, ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda b: client.post("/predict", json=b), bodies)
        print([len(answer.json()["labels"]) for answer in answers])
        answer = client.post("/predict", json=[[5.1, 3.5]])  # two numbers
        print(answer.status_code, answer.json()["detail"])
