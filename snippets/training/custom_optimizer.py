"""Write an optimizer: a rule alone, and one that keeps state per parameter."""

import torch


class SignSGD(torch.optim.Optimizer):
    """Move each weight by lr, against the sign of its gradient."""

    def __init__(self, params, lr=1e-3):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        with torch.enable_grad():  # a closure computes the gradients
            loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.update(p, group)
        return loss

    def update(self, p, group):  # your rule, in place
        p.sub_(p.grad.sign(), alpha=group["lr"])


class Lion(SignSGD):
    """The sign of a momentum. Source: Chen et al. 2023, Symbolic Discovery."""

    def update(self, p, group):
        if "m" not in self.state[p]:
            self.state[p]["m"] = torch.zeros_like(p)
        m = self.state[p]["m"]
        p.sub_(m.lerp(p.grad, 0.1).sign(), alpha=group["lr"])
        m.lerp_(p.grad, 0.01)


if __name__ == "__main__":
    model = torch.nn.Linear(2, 1)
    model(torch.ones(3, 2)).sum().backward()
    for optimizer in (SignSGD(model.parameters()), Lion(model.parameters())):
        optimizer.step()
        print(type(optimizer).__name__, optimizer.state_dict()["state"])
