"""Carry the random numbers over an interruption, so that no bit differs."""

import torch
from torch.utils.data import DataLoader


def random_states(generator):
    """Return the states of all torch generators; this one is the loader's."""
    return {
        "torch": torch.get_rng_state(),  # dropout, augmentation
        "cuda": torch.cuda.get_rng_state_all(),  # [] without a GPU
        "loader": generator.get_state(),  # shuffling, seeds of the workers
    }


def restore_random_states(states, generator):
    """Set them again: last, since building a model uses random numbers."""
    torch.set_rng_state(states["torch"])
    torch.cuda.set_rng_state_all(states["cuda"][: torch.cuda.device_count()])
    generator.set_state(states["loader"])


if __name__ == "__main__":
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(torch.arange(6), shuffle=True, generator=generator)
    states = random_states(generator)  # checkpoint["random_states"]
    for start in ("first", "again"):
        restore_random_states(states, generator)
        print(start, *torch.cat([*loader]).tolist(), f"{torch.rand(()):.4f}")
