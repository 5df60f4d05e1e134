"""Draw random tensors from a generator that nothing else draws from."""

import torch
from torch.nn import functional as F

weights = torch.tensor([0.1, 0.2, 0.7])  # (C,): how often each index is drawn

generator = torch.Generator().manual_seed(0)  # once, before any loop
x = torch.randn(2, 3, generator=generator)  # also rand, randint, normal
order = torch.randperm(5, generator=generator)  # 0 to 4, shuffled
picks = torch.multinomial(weights, 9, replacement=True, generator=generator)

state = generator.get_state()  # of the global one: torch.get_rng_state()
noise = torch.rand(3, generator=generator)
generator.set_state(state)  # go back: the same numbers come again
assert torch.equal(noise, torch.rand(3, generator=generator))

before = torch.get_rng_state()
with torch.random.fork_rng():  # puts the global generator back
    torch.manual_seed(0)
    y = F.dropout(x)  # has no generator=
assert torch.equal(before, torch.get_rng_state())

print("order", order.tolist(), "picks", picks.tolist())
