"""Raise the error, list what the file needs, and allow only that."""

import argparse
import pickle

import torch

weights = torch.nn.Linear(4, 2).state_dict()
args = argparse.Namespace(lr=0.1)
torch.save({"model_state_dict": weights, "args": args}, "old.pt")
try:
    torch.load("old.pt", weights_only=True)
except pickle.UnpicklingError as error:
    print(str(error).partition(",")[0])

print(torch.serialization.get_unsafe_globals_in_checkpoint("old.pt"))
with torch.serialization.safe_globals([argparse.Namespace]):  # what it lists
    checkpoint = torch.load("old.pt", weights_only=True)

checkpoint["args"] = vars(checkpoint["args"])  # now a plain dict
torch.save(checkpoint, "clean.pt")

print(torch.load("clean.pt", weights_only=True)["args"])
