"""Turn a CSV file into tensors: numbers as float32, classes as int64."""

import io

import pandas as pd
import torch
from torch.utils.data import DataLoader

csv = io.StringIO("""length,width,species
6.2,,virginica
5.1,3.5,setosa
4.9,3.0,setosa
""")  # yours: the path of the file
df = pd.read_csv(csv)
columns = ["length", "width"]
df[columns] = df[columns].fillna(df[columns].median())
codes, classes = df["species"].factorize(sort=True)
x = torch.tensor(df[columns].to_numpy("float32"))  # (N, columns)
y = torch.tensor(codes, dtype=torch.int64)  # (N,)
dataset = torch.utils.data.TensorDataset(x, y)
loader = DataLoader(dataset, batch_size=2, shuffle=True)

for features, labels in loader:
    print(tuple(features.shape), features.dtype, labels.dtype)
print(list(classes), y.tolist(), x[0])
