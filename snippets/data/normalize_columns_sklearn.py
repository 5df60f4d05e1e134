"""Standardise with scikit-learn, and keep the scaler for new data."""

import joblib
import numpy as np
import torch
from sklearn.preprocessing import StandardScaler

table = np.random.default_rng(0).normal(50, 9, (100, 3))  # (N, D)
train, val = table[:80], table[80:]

scaler = StandardScaler().fit(train)  # the training rows alone
x_train, x_val = (
    torch.tensor(scaler.transform(rows), dtype=torch.float32)
    for rows in (train, val)
)
joblib.dump(scaler, "scaler.joblib")

again = joblib.load("scaler.joblib")  # where the model is used
new = torch.tensor(again.transform(val[:1]), dtype=torch.float32)
assert torch.equal(new[0], x_val[0])
print(f"std of the training rows {x_train.std(0, correction=0).mean():.3f}")
