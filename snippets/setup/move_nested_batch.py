"""Move every tensor of a nested batch to a device."""

import torch


def to_device(batch, device):
    """Return a batch of dicts, lists and tuples with its tensors moved.

    Whatever else has a method ``to`` is moved by it; other values stay.
    """
    if hasattr(batch, "to"):
        return batch.to(device)
    if isinstance(batch, dict):
        return {k: to_device(v, device) for k, v in batch.items()}
    if isinstance(batch, list | tuple):
        moved = [to_device(v, device) for v in batch]
        named = hasattr(batch, "_fields")  # a named tuple
        return type(batch)(*moved) if named else type(batch)(moved)
    return batch


if __name__ == "__main__":
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    targets = [{"boxes": torch.ones(5, 4), "file": "1.jpg"}]
    batch = to_device((torch.ones(1, 3, 8, 8), targets), device)
    assert batch[1][0]["boxes"].device.type == device.type
    print(type(batch).__name__, "on", batch[0].device)
