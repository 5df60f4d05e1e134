"""Capture a forward pass in a CUDA graph, and replay it with new data."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(16, 4), nn.ReLU()).to("cuda")
batches = torch.randn(5, 8, 16, device="cuda")

static_x = torch.zeros(8, 16, device="cuda")  # the graph reads here
graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
with torch.no_grad():
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # warm up: libraries start, memory is taken
        for _ in range(3):
            model(static_x)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        static_y = model(static_x)  # recorded, not run

    for x in batches:
        static_x.copy_(x)  # not static_x = x
        graph.replay()  # writes into static_y
        torch.testing.assert_close(static_y, model(x))
