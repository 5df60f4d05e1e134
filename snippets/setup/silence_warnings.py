"""Silence one warning, in one place or everywhere, and no other."""

import re
import warnings

import torch
from torch import nn

layer = nn.TransformerEncoderLayer(8, 2)
with warnings.catch_warnings():  # for these lines alone
    warnings.filterwarnings("ignore", category=UserWarning)
    encoder = nn.TransformerEncoder(layer, 1)

# Everywhere from here on, and no other warning.
begins = "enable_nested_tensor is True"  # the first words of yours
warnings.filterwarnings("ignore", message=re.escape(begins))
encoder = nn.TransformerEncoder(layer, 1)

# Which line causes it? As an error, a warning has a traceback.
warnings.filterwarnings("error", message="Using a target size")
try:
    nn.MSELoss()(torch.zeros(3, 1), torch.ones(3))
except UserWarning as warning:
    print("still seen:", str(warning)[:47])
