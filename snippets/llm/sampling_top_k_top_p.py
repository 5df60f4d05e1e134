"""Draw the next token with temperature, top-k and top-p."""

import torch


def sample(logits, temperature=1.0, top_k=None, top_p=None):
    """Token ids (B, 1), drawn from logits (B, V); temperature 0 is greedy."""
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    logits = logits.float() / temperature
    if top_k:  # only the k most likely
        k = min(top_k, logits.shape[-1])
        kth = logits.topk(k).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p is not None:  # the fewest that reach p together
        ordered, ids = logits.sort(descending=True)
        p = ordered.softmax(-1)
        drop = p.cumsum(-1) - p >= top_p  # what comes before reaches p
        drop[..., 0] = False
        logits = logits.scatter(-1, ids, ordered.masked_fill(drop, -torch.inf))
    return torch.multinomial(logits.softmax(-1), num_samples=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    probabilities = torch.tensor([[0.5, 0.3, 0.15, 0.05]])
    logits = probabilities.log().expand(1000, 4)  # (B, V)

    next_id = sample(logits, temperature=0.8, top_k=50, top_p=0.9)  # (B, 1)

    for options in ({}, {"top_k": 2}, {"top_p": 0.9}, {"temperature": 0}):
        drawn = sample(logits, **options).flatten().bincount(minlength=4)
        print(options, drawn.tolist())
