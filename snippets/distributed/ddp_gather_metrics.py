"""Evaluate on several GPUs: each sample once, the result in every process."""

import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset


@torch.no_grad()
def evaluate(model, dataset, device, batch_size=64):
    """Return loss, accuracy and the predicted classes of the whole dataset."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    share = range(rank, len(dataset), world_size)  # no sample twice
    loader = DataLoader(Subset(dataset, share), batch_size)
    model.eval()
    loss, correct, count, predicted = 0.0, 0, 0, []
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)
        total = nn.functional.cross_entropy(logits, y, reduction="sum")
        loss += total.item()
        correct += (logits.argmax(1) == y).sum().item()
        count += len(y)
        predicted += logits.argmax(1).tolist()

    sums = torch.tensor([loss, correct, count], dtype=float, device=device)
    dist.all_reduce(sums)  # adds up sums and counts of all processes
    loss, correct, count = sums.tolist()
    shares = [None] * world_size
    dist.all_gather_object(shares, predicted)  # their lengths may differ
    in_order = torch.empty(len(dataset), dtype=torch.long)
    for i, part in enumerate(shares):
        in_order[i::world_size] = torch.tensor(part)
    return loss / count, correct / count, in_order


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    gpu = None
    if torch.cuda.is_available():
        gpu = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    device = gpu or torch.device("cpu")
    x = torch.linspace(-1, 1, 101).unsqueeze(1)  # 101: uneven shares
    dataset = TensorDataset(x, (x[:, 0] > 0.5).long())
    torch.manual_seed(0)
    model = DDP(nn.Linear(1, 2).to(device))
    # .module, because DDP's own forward may wait for the others.
    loss, accuracy, predicted = evaluate(model.module, dataset, device)
    if dist.get_rank() == 0:
        print(f"{len(predicted)} samples, accuracy {accuracy:.2f}")
    del model  # DDP holds the group
    dist.destroy_process_group()
