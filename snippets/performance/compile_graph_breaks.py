"""List the lines where torch.compile cuts a graph, and mend the cuts."""

from pathlib import Path

import torch


def cut(x):
    """Two of its lines end a graph."""
    x = x.relu()
    print("largest", x.max())  # print cannot be recorded
    if x.sum() > 10:  # Python must know the value
        x = x / 10
    return x * 2


def whole(x):
    """Compute the same in one graph."""
    x = x.relu()
    x = torch.where(x.sum() > 10, x / 10, x)
    return x * 2


if __name__ == "__main__":
    model, x = cut, torch.ones(4, 3)
    report = torch._dynamo.explain(model)(x)  # runs it once
    for reason in report.break_reasons:
        at = reason.user_stack[-1]  # reason.reason tells more
        print(f"{Path(at.filename).name}, line {at.lineno}: {at.line}")
    print("graphs:", report.graph_count)  # 1 is the goal; 0: none was made

    compiled = torch.compile(whole, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), cut(x))  # not cut: no error
