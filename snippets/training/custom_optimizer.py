"""Write an optimizer that keeps state for each weight."""

import torch


class Lion(torch.optim.Optimizer):
    """The sign of a momentum. Source: Chen et al. 2023, Symbolic Discovery."""

    def __init__(self, params, lr=1e-4):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        with torch.enable_grad():  # a closure computes the gradients
            loss = None if closure is None else closure()
        for group in self.param_groups:
            used = [p for p in group["params"] if p.grad is not None]
            for p in used:  # neither frozen nor left out
                state = self.state[p]  # a dict for each weight, empty at first
                if not state:
                    state["m"] = torch.zeros_like(p)
                # Your rule, in place: here the sign of a momentum.
                update = state["m"].lerp(p.grad, 0.1).sign()
                p.sub_(update, alpha=group["lr"])
                state["m"].lerp_(p.grad, 0.01)
        return loss


if __name__ == "__main__":
    model = torch.nn.Linear(2, 1)
    optimizer = Lion(model.parameters())
    model(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    print(optimizer.state_dict()["state"])  # saved with a checkpoint
