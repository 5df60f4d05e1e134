"""Write an optimizer: a rule alone, and one that keeps state per parameter."""

import torch


class SignSGD(torch.optim.Optimizer):
    """Move each weight by lr, against the sign of its gradient."""

    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        """Replace the last line by your rule."""
        for group in self.param_groups:
            for p in (p for p in group["params"] if p.grad is not None):
                p.sub_(p.grad.sign(), alpha=group["lr"])


class Lion(torch.optim.Optimizer):
    """The sign of a momentum. Source: Chen et al. 2023, Symbolic Discovery."""

    def __init__(self, params, lr=1e-4, b1=0.9, b2=0.99):
        super().__init__(params, {"lr": lr, "b1": b1, "b2": b2})

    @torch.no_grad()
    def step(self, closure=None):
        """Call the closure, if there is one: it computes the gradients."""
        with torch.enable_grad():
            loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in (p for p in group["params"] if p.grad is not None):
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                update = m.lerp(p.grad, 1 - group["b1"]).sign()
                p.sub_(update, alpha=group["lr"])
                m.lerp_(p.grad, 1 - group["b2"])
        return loss


if __name__ == "__main__":
    model = torch.nn.Linear(2, 1)
    model(torch.ones(3, 2)).sum().backward()
    for optimizer in (SignSGD(model.parameters()), Lion(model.parameters())):
        optimizer.step()
        print(type(optimizer).__name__, optimizer.state_dict()["state"])
