"""List the processes that hold memory on the GPUs, the largest first."""

import shutil
import subprocess
from typing import NamedTuple

FIELDS = "gpu_uuid,pid,used_memory,process_name"
QUERY = f"nvidia-smi --query-compute-apps={FIELDS} --format=csv,noheader"
SAMPLE = """\
GPU-c4dd6ed1, 4339, 480 MiB, python
GPU-66b6a70f, 871, 20112 MiB, /usr/bin/python3
"""


class GpuProcess(NamedTuple):
    """A process and the memory it uses on one GPU, as nvidia-smi puts it."""

    gpu: str  # the UUID; nvidia-smi -L says which GPU that is
    pid: int
    memory: str  # "480 MiB", or "[N/A]" where the driver does not say
    name: str


def parse(answer: str) -> list[GpuProcess]:
    """Read the answer to QUERY; those of unknown memory come last."""
    found = []
    for line in answer.splitlines():
        gpu, pid, memory, name = line.split(", ", maxsplit=3)
        found.append(GpuProcess(gpu, int(pid), memory, name))

    def mib(process: GpuProcess) -> int:
        number = process.memory.removesuffix(" MiB")
        return int(number) if number.isdecimal() else -1

    return sorted(found, key=mib, reverse=True)


def gpu_processes() -> list[GpuProcess]:
    """Ask the driver, about all GPUs and all users.

    Raises:
        FileNotFoundError: there is no nvidia-smi, so no NVIDIA driver.
        subprocess.CalledProcessError: nvidia-smi can not reach the driver.

    Source: nvidia-smi --help-query-compute-apps
    """
    return parse(subprocess.check_output(QUERY.split(), text=True))


if __name__ == "__main__":
    assert [process.pid for process in parse(SAMPLE)] == [871, 4339]
    if shutil.which("nvidia-smi"):
        processes = gpu_processes()
    else:
        print("no nvidia-smi here; a list looks like this:")
        processes = parse(SAMPLE)
    for process in processes:
        print(*process)
