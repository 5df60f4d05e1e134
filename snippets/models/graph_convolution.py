"""Classify the nodes of a graph with two graph convolutions (GCN)."""

import torch
from torch import nn
from torch.nn import functional as F


def propagate(x, edge_index):  # a layer: lin(propagate(x, edge_index))
    """Add up neighbours, scaled by degrees: (N, C), (2, E) -> (N, C)."""
    loops = torch.arange(len(x), device=x.device).expand(2, -1)
    src, dst = torch.cat([edge_index, loops], dim=1)  # (E + N,) each
    scale = dst.bincount(minlength=len(x)).to(x.dtype).rsqrt()  # (N,)
    message = x[src] * (scale[src] * scale[dst])[:, None]  # (E + N, C)
    return torch.zeros_like(x).index_add(0, dst, message)


class GCN(nn.Module):
    """Two layers: a node sees the neighbours of its neighbours."""

    def __init__(self, in_channels, hidden, classes):
        super().__init__()
        self.lin1 = nn.Linear(in_channels, hidden)
        self.lin2 = nn.Linear(hidden, classes)

    def forward(self, x, edge_index):  # (N, in_channels) -> (N, classes)
        h = F.relu(self.lin1(propagate(x, edge_index)))
        return self.lin2(propagate(h, edge_index))


def batch_graphs(graphs):  # [(x, edge_index), ...]
    """Put graphs side by side into one; return x, edge_index, batch."""
    device = graphs[0][0].device
    sizes = torch.tensor([len(x) for x, _ in graphs], device=device)
    offsets = sizes.cumsum(0) - sizes  # (G,): the first id of each graph
    edges = [e + n for (_, e), n in zip(graphs, offsets, strict=True)]
    batch = torch.arange(len(graphs), device=device).repeat_interleave(sizes)
    return torch.cat([x for x, _ in graphs]), torch.cat(edges, dim=1), batch


if __name__ == "__main__":
    torch.manual_seed(0)
    y = torch.arange(90) % 3  # (N,): three groups, most edges are inside one
    chance = torch.where(y[:, None] == y, 0.2, 0.01)
    adjacency = torch.bernoulli(chance).triu(1)  # each edge once
    edge_index = (adjacency + adjacency.T).nonzero().T  # (2, E): both ways
    x = F.one_hot(y, 3) + torch.randn(90, 3)  # (N, C): noisy features
    train_mask = torch.arange(90) < 15  # only 15 nodes have a label

    model = GCN(3, 16, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        logits = model(x, edge_index)  # of all nodes
        loss = F.cross_entropy(logits[train_mask], y[train_mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = model.eval()(x, edge_index).argmax(1) == y
    print(f"other nodes right: {right[~train_mask].float().mean():.0%}")
