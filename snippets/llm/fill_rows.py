"""Sort sequences into rows of at most T tokens: first fit, longest first."""

import torch


def fill_rows(lengths, T):
    """Return lists of indices; the lengths of each sum to at most T."""
    rows, free = [], []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if lengths[i] > T:
            raise ValueError(f"sequence {i}: {lengths[i]} > {T} tokens")
        fits = [row for row, room in enumerate(free) if lengths[i] <= room]
        row = fits[0] if fits else len(rows)
        if not fits:
            rows.append([])
            free.append(T)
        rows[row].append(i)
        free[row] -= lengths[i]
    return rows


if __name__ == "__main__":
    torch.manual_seed(0)
    lengths = torch.randint(20, 1025, (500,)).tolist()
    rows = fill_rows(lengths, 1024)
    padded = 1 - sum(lengths) / (len(lengths) * 1024)
    packed = 1 - sum(lengths) / (len(rows) * 1024)
    print(f"{padded:.0%} padding, {packed:.0%} once packed")
