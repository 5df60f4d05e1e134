"""The DPO loss: learn from pairs of a better and a worse answer."""

import copy

import torch
from torch import nn
from torch.nn import functional as F


def sequence_logp(logits, labels):
    """log p of each answer, (B,), from logits (B, T, V) and labels (B, T).

    Labels are the token ids, -100 in the prompt and in the padding.
    """
    logits, labels = logits[:, :-1].float(), labels[:, 1:]  # next token
    return -F.cross_entropy(logits.mT, labels, reduction="none").sum(-1)


def dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.1):
    """Mean loss; each log p is (B,). Source: Rafailov et al. 2023, DPO."""
    margin = (chosen - ref_chosen) - (rejected - ref_rejected)
    return -F.logsigmoid(beta * margin).mean()


if __name__ == "__main__":
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50))
    policy.eval()  # dropout would add noise to every log p
    reference = copy.deepcopy(policy).requires_grad_(False)
    ids = torch.randint(50, (8, 12))  # 4 chosen, then 4 rejected
    labels = ids.clone()
    labels[:, :5] = -100  # the prompt
    # The reference never changes: once is enough.
    ref_chosen, ref_rejected = sequence_logp(reference(ids), labels).chunk(2)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-2)
    for step in range(20):
        chosen, rejected = sequence_logp(policy(ids), labels).chunk(2)
        loss = dpo_loss(chosen, rejected, ref_chosen, ref_rejected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (0, 19):
            print(f"step {step}: loss {loss.item():.3f}")
