"""random_states: what goes on after restoring, also in workers."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from tests.helpers import load_snippet

STATES = load_snippet("training/random_states.py")


def test_the_random_states_come_back(tmp_path):
    generator = torch.Generator().manual_seed(3)
    loader = DataLoader(torch.arange(9), shuffle=True, generator=generator)
    list(loader)
    torch.save(STATES.random_states(generator), tmp_path / "a.pt")
    expected = torch.rand(3), torch.cat([*loader])
    torch.manual_seed(9)
    other = torch.Generator()
    STATES.restore_random_states(
        torch.load(tmp_path / "a.pt", weights_only=True), other
    )
    loader = DataLoader(torch.arange(9), shuffle=True, generator=other)
    assert torch.equal(torch.rand(3), expected[0])
    assert torch.equal(torch.cat([*loader]), expected[1])


def test_states_of_more_gpus_than_there_are(monkeypatch):
    states = [torch.get_rng_state()] * 3
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: states)
    saved = STATES.random_states(torch.Generator())
    assert len(saved["cuda"]) == 3
    seen = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", seen.extend)
    STATES.restore_random_states(saved, torch.Generator())
    assert len(seen) == 2


class Augmented(Dataset):
    """Samples with random numbers of all three libraries."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return index, torch.rand(()), np.random.rand()


def epochs(count, state=None, persistent=False):
    """The batches of some epochs, and the generator's state afterwards."""
    generator = torch.Generator().manual_seed(0)
    if state is not None:
        generator.set_state(state)
    loader = DataLoader(
        Augmented(),
        batch_size=2,
        shuffle=True,
        num_workers=1,
        generator=generator,
        persistent_workers=persistent,
    )
    seen = [
        [torch.stack(list(batch)).tolist() for batch in loader] for _ in range(count)
    ]
    return seen, generator.get_state()


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_follow_the_generator_unless_they_persist(persistent):
    uninterrupted, _ = epochs(2, persistent=persistent)
    first, state = epochs(1, persistent=persistent)
    second, _ = epochs(1, state, persistent=persistent)
    assert first == uninterrupted[:1]
    assert (second == uninterrupted[1:]) is not persistent
