"""distributed-sampler: the shares of two processes, against a permutation by hand."""

import pytest
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset

from tests.helpers import (
    ROOT,
    in_two_processes,
    raises_as_documented,
)

SNIPPET = ROOT / "snippets/distributed/distributed_sampler.py"
PAGE = "distributed/distributed-sampler"

DRIVER = """
import runpy, sys, torch, torch.distributed as dist
leave, dist.destroy_process_group = dist.destroy_process_group, lambda: None

def work(rank):
    runpy.run_path(sys.argv[1])
    leave()
"""


def order(epoch: int, length: int = 5, seed: int = 0) -> list[int]:
    """All indices, shuffled as in every process."""
    generator = torch.Generator().manual_seed(seed + epoch)
    return torch.randperm(length, generator=generator).tolist()


def test_two_processes_share_the_samples(tmp_path):
    """Every second index each; the first again for the share that is shorter."""
    printed = in_two_processes(tmp_path, DRIVER, str(SNIPPET))
    expected = []
    for rank in range(2):
        shares = [[*order(epoch), order(epoch)[0]][rank::2] for epoch in range(2)]
        batches = [batch for share in shares for batch in (share[:2], share[2:])]
        expected.append(f"rank {rank}: {batches}")
    assert printed.splitlines() == expected
    for lang in ("en", "zh"):
        page = (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
        assert f"```text\n{printed}```" in page
    assert order(0) != order(1)


@pytest.mark.parametrize("length", [1, 5, 6, 7])
@pytest.mark.parametrize("world_size", [1, 2, 4])
def test_coverage(length, world_size):
    """All samples, in equal shares; with drop_last none twice."""
    for drop_last in (False, True):
        shares = [
            list(
                DistributedSampler(range(length), world_size, rank, True, 3, drop_last)
            )
            for rank in range(world_size)
        ]
        assert len({len(share) for share in shares}) == 1
        drawn = [i for share in shares for i in share]
        if drop_last:
            assert len(set(drawn)) == len(drawn) == length // world_size * world_size
        else:
            assert set(drawn) == set(range(length))
            assert len(drawn) == -(-length // world_size) * world_size


def test_the_loader_s_drop_last_leaves_the_repeated_sample():
    drawn = []
    for rank in range(2):
        sampler = DistributedSampler(range(5), 2, rank)
        loader = DataLoader(range(5), 1, sampler=sampler, drop_last=True)
        drawn += [i.item() for i in loader]
    assert sorted(set(drawn)) == list(range(5))
    assert len(drawn) == 6


def test_the_order_changes_with_epoch_and_seed_alone():
    sampler = DistributedSampler(range(9), 1, 0)
    assert list(sampler) == list(sampler) == order(0, 9)
    loader = DataLoader(range(9), sampler=sampler)
    begun = iter(loader)  # too late for this epoch
    assert next(begun).item() == order(0, 9)[0]
    sampler.set_epoch(4)
    assert [x.item() for x in begun] == order(0, 9)[1:]
    assert [x.item() for x in loader] == order(4, 9)
    assert list(DistributedSampler(range(9), 1, 0, seed=4)) == order(4, 9)


def test_batches_of_one_process():
    assert len(DataLoader(range(9), 2, sampler=DistributedSampler(range(9), 2, 0))) == 3


def test_shuffle_belongs_to_the_sampler():
    sampler = DistributedSampler(range(5), 2, 0)
    with raises_as_documented(PAGE, "ValueError: sampler option"):
        DataLoader(range(5), shuffle=True, sampler=sampler)


def test_made_before_the_group():
    with raises_as_documented(PAGE, "ValueError: Default process group"):
        DistributedSampler(range(5))
    assert len(DistributedSampler(range(5), num_replicas=2, rank=1)) == 3


def test_a_loader_without_this_sampler():
    with raises_as_documented(PAGE, "AttributeError: 'RandomSampler'"):
        DataLoader(range(5), shuffle=True).sampler.set_epoch(1)


def test_an_iterable_dataset():
    class Stream(IterableDataset):
        def __iter__(self):
            yield 1

    with raises_as_documented(PAGE, "TypeError: object of type"):
        DistributedSampler(Stream(), 2, 0)


@pytest.mark.usefixtures("own_process")
@pytest.mark.parametrize("grouped", [False, True])
def test_one_script_for_both(request, grouped):
    """The variant, without a group and with one."""
    if grouped:
        request.getfixturevalue("group")
    sampler = DistributedSampler(range(5)) if dist.is_initialized() else None
    loader = DataLoader(range(5), shuffle=sampler is None, sampler=sampler)
    assert isinstance(loader.sampler, DistributedSampler) == grouped
    assert sorted(x.item() for x in loader) == list(range(5))
