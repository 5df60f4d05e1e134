"""Turn a CSV file into two datasets: scaled numbers, and classes as int64."""

from pathlib import Path

import pandas as pd
import torch
from torch.utils.data import TensorDataset

rows = "6.2,,virginica\n5.1,3.5,setosa\n4.9,3.0,setosa\n5.9,3.2,\n"
Path("flowers.csv").write_text("length,width,species\n" + rows * 4)
path = "flowers.csv"  # yours
columns, label = ["length", "width"], "species"  # yours: names of columns

df = pd.read_csv(path).dropna(subset=label).sample(frac=1, random_state=0)
n = int(0.8 * len(df))  # the rows to train on
mean = df[columns][:n].mean()  # for later rows keep mean, std and classes
std = df[columns][:n].std().round(12).replace(0, 1)  # constant column: 1
x = torch.tensor(((df[columns] - mean) / std).fillna(0).to_numpy("float32"))
codes, classes = df[label].factorize(sort=True)  # classes[0]: name of class 0
y = torch.tensor(codes)
train_set, val_set = TensorDataset(x[:n], y[:n]), TensorDataset(x[n:], y[n:])

print(len(train_set), len(val_set), list(classes), x.dtype, y.dtype)
later = pd.DataFrame({"length": [6.0], "width": [float("nan")]})
print("a later row", ((later - mean) / std).fillna(0).round(2).values.tolist())
