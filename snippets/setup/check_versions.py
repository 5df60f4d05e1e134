"""Report the versions of torch, CUDA and cuDNN, and the name of every GPU."""

import torch


def versions() -> dict[str, str | int | None]:
    """Collect what decides which kernels run; a GPU is not required.

    Returns:
        torch: release and build, such as "2.15.0+cu132".
        CUDA, ROCm: what torch was built for, not what the driver offers;
            None in any other build.
        cuDNN: the library in use, 92600 for 9.26.0; None without one.
        cuda:0, cuda:1, ...: name and memory of each GPU torch can use.

    Source: torch.version, torch.backends.cudnn in the PyTorch reference
    """
    report = {
        "torch": torch.__version__,
        "CUDA": torch.version.cuda,
        "ROCm": torch.version.hip,
        "cuDNN": torch.backends.cudnn.version(),
    }
    # device_count() also counts GPUs that torch can not use, as under too old
    # a driver; asking for their names would raise.
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for index in range(count):
        gpu = torch.cuda.get_device_properties(index)
        memory = gpu.total_memory / 2**30  # bytes to GiB
        report[f"cuda:{index}"] = f"{gpu.name}, {memory:.1f} GiB"
    return report


if __name__ == "__main__":
    report = versions()
    assert ("cuda:0" in report) == torch.cuda.is_available()
    for name, value in report.items():
        print(f"{name}: {value}")
