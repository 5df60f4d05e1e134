"""Evaluate on several GPUs: each sample once, the result in every process."""

import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.distributed import run
from torch.utils.data import DataLoader, Subset, TensorDataset


@torch.no_grad()
def evaluate(model, dataset, device, batch_size=64):
    """Give it model.module; return loss, accuracy, own predictions."""
    share = range(dist.get_rank(), len(dataset), dist.get_world_size())
    loader = DataLoader(Subset(dataset, share), batch_size)  # none twice
    model.eval()
    loss, correct, count, predicted = 0.0, 0, 0, []
    for x, y in loader:
        logits, y = model(x.to(device)), y.to(device)
        loss += nn.functional.cross_entropy(logits, y, reduction="sum").item()
        correct += (logits.argmax(1) == y).sum().item()
        count += (y != -100).sum().item()  # cross_entropy leaves -100 out
        predicted += logits.argmax(1).tolist()
    sums = torch.tensor([loss, correct, count], dtype=float, device=device)
    dist.all_reduce(sums)  # the sums over all processes
    loss, accuracy = (sums[:2] / sums[2]).tolist()
    return loss, accuracy, predicted


def gather_in_order(predicted):
    """Return the predictions of all, in the order of the dataset."""
    shares = [None] * dist.get_world_size()
    dist.all_gather_object(shares, predicted)  # their lengths may differ
    together = torch.empty(sum(map(len, shares)), dtype=torch.long)
    for rank, share in enumerate(shares):
        together[rank :: len(shares)] = torch.tensor(share)
    return together


if __name__ == "__main__" and "RANK" not in os.environ:
    n = torch.cuda.device_count() or 2  # plain python: start torchrun
    run.main(["--standalone", f"--nproc-per-node={n}", __file__])
elif __name__ == "__main__":
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    device = gpu or torch.device("cpu")
    x = torch.linspace(-1, 1, 101).unsqueeze(1)  # 101: uneven shares
    dataset = TensorDataset(x, (x[:, 0] > 0.5).long())
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Linear(1, 2).to(device))
    loss, accuracy, predicted = evaluate(model.module, dataset, device)
    predicted = gather_in_order(predicted)  # every process calls it
    if dist.get_rank() == 0:
        print(f"accuracy {accuracy:.2f} of {len(predicted)} samples")
    del model  # DDP holds the group
    dist.destroy_process_group()
