"""Multiply matrices, batches of matrices, and tensors element by element."""

import torch


def project(
    x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    """Multiply each row by a matrix, then each column by its own factor.

    Args:
        x: (..., T, N), one matrix or a batch of them.
        weight: (N, M), or (..., N, M): a matrix for each of the batch.
        scale: (M,)

    Returns:
        (..., T, M)

    Raises:
        RuntimeError: sizes do not fit, or x and weight differ in dtype.

    Source: torch.matmul and "Broadcasting semantics" in the PyTorch reference
    """
    return (x @ weight) * scale


if __name__ == "__main__":
    torch.manual_seed(0)
    B, T, N, M = 2, 3, 4, 5
    x, weight = torch.randn(B, T, N), torch.randn(N, M)

    y = x @ weight  # (B, T, M): the matrix serves the whole batch
    each = torch.stack([torch.mm(matrix, weight) for matrix in x])
    torch.testing.assert_close(y, each)
    torch.testing.assert_close(y, torch.einsum("btn,nm->btm", x, weight))

    scores = x @ x.mT  # (B, T, T): one product per pair of the batch
    torch.testing.assert_close(scores, torch.bmm(x, x.transpose(1, 2)))

    scale = torch.arange(M)  # (M,), broadcast over B and T
    assert torch.equal(project(x, weight, scale)[..., 2], 2 * y[..., 2])

    a = torch.tensor([[1, 2], [3, 4]])
    print("a @ a =", (a @ a).tolist())
    print("a * a =", (a * a).tolist())
