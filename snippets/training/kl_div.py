"""KL divergence: log-probabilities first, then the target's probabilities."""

import torch
from torch.distributions import Categorical, kl_divergence
from torch.nn import functional as F

torch.manual_seed(0)
student, teacher = torch.randn(2, 4, 10)  # (N, C) logits each

log_q = F.log_softmax(student, dim=1)  # the model
p = F.softmax(teacher, dim=1)  # the target
loss = F.kl_div(log_q, p, reduction="batchmean")  # KL(p || q)

# The same from the definition; the target comes first here.
pair = Categorical(logits=teacher), Categorical(logits=student)
expected = kl_divergence(*pair)
torch.testing.assert_close(loss, expected.mean())
print(f"KL {loss:.3f}")
