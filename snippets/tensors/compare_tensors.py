"""Tell whether two tensors agree, exactly or up to rounding."""

import torch


def is_close(
    actual: torch.Tensor,
    expected: torch.Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
) -> bool:
    """Return whether shape and dtype are the same and the values close.

    Close is |actual - expected| <= atol + rtol * |expected|; NaN is close
    to NaN, and an infinity only to itself.

    Args:
        actual, expected: any shape, on the same device.
        rtol, atol: the relative and the absolute tolerance.

    Raises:
        RuntimeError: shape and dtype are the same, but not the device.

    Source: torch.allclose in the PyTorch reference
    """
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    return torch.allclose(actual, expected, rtol, atol, equal_nan=True)


if __name__ == "__main__":
    expected = torch.tensor([0.3, 1.0], dtype=torch.float64)
    actual = torch.tensor([0.1 + 0.2, 1.0], dtype=torch.float64)
    assert (actual == expected).tolist() == [False, True]
    assert not torch.equal(actual, expected)  # one bool: shape and values
    assert is_close(actual, expected)

    # On its own, allclose broadcasts: 4 numbers "equal" one.
    assert torch.allclose(torch.ones(2, 2), torch.ones(1))
    assert not is_close(torch.ones(2, 2), torch.ones(1))

    # In a test: tolerances by dtype, and a message that says what differs.
    torch.testing.assert_close(actual, expected)
    try:
        torch.testing.assert_close(actual, expected.float())
    except AssertionError as error:
        print(error)
