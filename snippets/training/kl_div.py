"""KL divergence: log-probabilities first, then the target's probabilities."""

import torch
from torch.distributions import Categorical, kl_divergence
from torch.nn import functional as F

torch.manual_seed(0)
student, teacher = torch.randn(4, 10), torch.randn(4, 10)  # logits, (N, C)

log_q = F.log_softmax(student, dim=1)  # the model
p = F.softmax(teacher, dim=1)  # the target
loss = F.kl_div(log_q, p, reduction="batchmean")  # KL(p || q)

# The same from the definition; the target comes first here.
pair = Categorical(logits=teacher), Categorical(logits=student)
expected = kl_divergence(*pair)
torch.testing.assert_close(loss, expected.mean())

# Distillation: soften both by T; T² keeps the size of the gradients.
T = 4.0
log_q, p = F.log_softmax(student / T, dim=1), F.softmax(teacher / T, dim=1)
soft = F.kl_div(log_q, p, reduction="batchmean") * T**2
print(f"KL {loss:.3f}, with T = 4 {soft:.3f}")
