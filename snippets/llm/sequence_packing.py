"""Train on several sequences in one row, without padding between them."""

import torch
from torch.nn.functional import scaled_dot_product_attention

sequences = [torch.tensor([5, 3, 8]), torch.tensor([7, 2]), torch.tensor([4])]

ids = torch.cat([torch.as_tensor(s) for s in sequences])  # (T,)
lengths = torch.tensor([len(s) for s in sequences])
doc = torch.arange(len(lengths)).repeat_interleave(lengths)  # 0 0 0 1 1 2
position_ids = torch.cat([torch.arange(len(s)) for s in sequences])
mask = (doc[:, None] == doc).tril()  # (T, T): True may be seen
target = ids.roll(-1)  # the next token
target[lengths.cumsum(0) - 1] = -100  # none after the last one

# Attention: each sequence gets what it would get alone.
q, k, v = torch.randn(3, 1, 2, len(ids), 8)  # (B, nh, T, hs) each
y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
q1, k1, v1 = (x[:, :, doc == 1] for x in (q, k, v))
alone = scaled_dot_product_attention(q1, k1, v1, is_causal=True)
torch.testing.assert_close(y[:, :, doc == 1], alone)
print("position_ids", position_ids.tolist())
print("target      ", target.tolist())
