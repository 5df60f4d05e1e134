"""Draw the next token with temperature, top-k and top-p."""

import torch


def sample(logits, temperature=1.0, top_k=None, top_p=None):
    """Token ids (B, 1), drawn from logits (B, V); temperature above 0."""
    logits = logits / temperature
    if top_k is not None:  # only the k most likely
        k = min(top_k, logits.shape[-1])
        kth = logits.topk(k).values[:, -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p is not None:  # the fewest that reach p together
        ordered, ids = logits.sort(descending=True)
        p = ordered.softmax(-1)
        p_before = p.cumsum(-1) - p
        ordered[p_before >= top_p] = -torch.inf
        logits = torch.empty_like(logits).scatter_(-1, ids, ordered)
    return torch.multinomial(logits.softmax(-1), num_samples=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    probabilities = torch.tensor([[0.5, 0.3, 0.15, 0.05]])
    logits = probabilities.log().expand(1000, 4)
    for options in ({}, {"top_k": 2}, {"top_p": 0.9}, {"temperature": 0.5}):
        drawn = sample(logits, **options).flatten().bincount(minlength=4)
        print(options, drawn.tolist())
