"""Find out whether CUDA can be used and, if it can not, for which reason."""

import torch


def why_no_cuda() -> str | None:
    """Return what keeps CUDA from computing, or None if nothing does.

    Each visible GPU adds two numbers. ``torch.cuda.is_available()`` is True
    already when a driver and a GPU are there, even if torch brings no code
    for that GPU. ROCm builds are asked in the same way.

    Source: torch.cuda, torch.backends.cuda in the PyTorch reference
    """
    if not torch.backends.cuda.is_built():
        return "This torch was built without CUDA; install a CUDA build."
    count = torch.cuda.device_count()
    try:
        for index in range(max(count, 1)):  # with no GPU, cuda:0 tells why
            torch.ones(2, device=f"cuda:{index}").sum().item()
    except RuntimeError as error:
        return str(error).splitlines()[0]  # further lines are general advice
    return None


if __name__ == "__main__":
    print("built for CUDA", torch.version.cuda)
    print("code for", *torch.cuda.get_arch_list())

    reason = why_no_cuda()
    assert reason or torch.cuda.is_available()
    print("CUDA can be used:", reason is None)
    if reason:
        print(reason)
