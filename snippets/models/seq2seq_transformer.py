"""Train an encoder-decoder Transformer to turn one sequence into another."""

import torch
import torch.nn.functional as F
from torch import nn

PAD, BOS, EOS, V, C = 0, 1, 2, 13, 32
torch.manual_seed(0)
transformer = nn.Transformer(C, 4, 1, 1, 4 * C, dropout=0.0, batch_first=True)
transformer.encoder.use_nested_tensor = False  # it warns in eval()
token, position, head = (
    nn.Embedding(V, C),
    nn.Embedding(64, C),
    nn.Linear(C, V),
)
model = nn.ModuleList([transformer, token, position, head])
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)


def embed(ids):
    """Token and position: (N, T) to (N, T, C)."""
    return token(ids) + position(torch.arange(ids.shape[1], device=ids.device))


def batch(N=32):
    """Digits, and the same from back to front, both padded on the right."""
    src, tgt = torch.full((2, N, 8), PAD)
    for s, t in zip(src, tgt, strict=True):
        digits = torch.randint(EOS + 1, V, (torch.randint(1, 7, ()),))
        n = len(digits)
        s[:n], t[0], t[1 : n + 1], t[n + 1] = digits, BOS, digits.flip(0), EOS
    return src, tgt


def forward(src, tgt):
    """Logits (N, T, V) of what follows each tgt (N, T), for src (N, S)."""
    T, padding = tgt.shape[1], src == PAD  # True: not looked at
    future = torch.ones(T, T, dtype=torch.bool, device=tgt.device).triu(1)
    memory = transformer.encoder(embed(src), src_key_padding_mask=padding)
    y = transformer.decoder(
        embed(tgt), memory, tgt_mask=future, memory_key_padding_mask=padding
    )
    return head(y)


for _ in range(200):  # steps; more for real texts
    src, tgt = batch()  # yours: <bos> … <eos>, both padded on the right
    logits = forward(src, tgt[:, :-1])
    loss = F.cross_entropy(logits.mT, tgt[:, 1:], ignore_index=PAD)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

model.eval()
src, ids = torch.tensor([[5, 3, 9, 7]]), torch.tensor([[BOS]])
with torch.no_grad():
    while ids[0, -1] != EOS and ids.shape[1] < 10:
        ids = torch.cat([ids, forward(src, ids)[:, -1:].argmax(-1)], dim=1)
print(src[0].tolist(), "→", ids[0, 1:-1].tolist())
