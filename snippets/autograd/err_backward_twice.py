"""Call backward once per graph, with two losses or with a carried state."""

import torch
from torch import nn


def backward_together(*losses: torch.Tensor) -> None:
    """Backpropagate losses that share a part of their graph, in one pass.

    Args:
        losses: each 0-dim; weigh them before passing them in.

    Raises:
        RuntimeError: the graph of a loss has been freed already.

    Source: https://docs.pytorch.org/docs/stable/notes/autograd.html
    """
    torch.stack(losses).sum().backward()


def backward_in_chunks(rnn: nn.RNN, x: torch.Tensor, steps: int) -> None:
    """Backpropagate through a long sequence, a chunk at a time.

    Args:
        rnn: with ``batch_first=True``.
        x: (B, T, C).
        steps: chunk length; gradients reach no further back than a chunk.
    """
    state = None
    for chunk in x.split(steps, dim=1):  # (B, steps, C)
        out, state = rnn(chunk, state)
        out.square().mean().backward()  # stands for the loss of the task
        state = state.detach()  # its values go on, its freed graph does not


if __name__ == "__main__":
    torch.manual_seed(0)
    trunk, head_1, head_2 = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
    x = torch.randn(16, 4)

    def two_losses() -> tuple[torch.Tensor, torch.Tensor]:
        features = trunk(x).relu()  # (16, 8), shared
        return head_1(features).square().mean(), head_2(features).abs().mean()

    loss_1, loss_2 = two_losses()
    loss_1.backward()
    try:
        loss_2.backward()  # the trunk's part of the graph is gone
    except RuntimeError as error:
        print("error:", str(error).partition(" (")[0])

    trunk.zero_grad()
    backward_together(*two_losses())
    print("fixed: two losses, one backward")

    rnn = nn.RNN(4, 8, batch_first=True)
    backward_in_chunks(rnn, torch.randn(2, 9, 4), steps=3)
    print("fixed: three chunks, one backward each")
