"""compile-graph-breaks: both functions against NumPy; each cut, and its remedy."""

import logging
import runpy
import warnings

import cv2
import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "performance/compile_graph_breaks.py"
PAGE = "performance/compile-graph-breaks"
snippet = load_snippet(SNIPPET)
log = logging.getLogger("cookbook")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def cuts(function, *inputs):
    return torch._dynamo.explain(function)(*inputs).break_reasons


def whole(function):
    return torch.compile(function, backend="eager", fullgraph=True)


@pytest.mark.parametrize("rows", [1, 3, 4])  # below the threshold of 10, and above
def test_cut_and_whole_compute_the_same(rows, capsys):
    x = torch.linspace(-1, 2, 3 * rows).reshape(rows, 3)
    x[0, 0] = 3.0
    positive = np.maximum(x.numpy(), 0)
    assert (positive.sum() > 10) == (rows == 4)
    expected = positive * (0.2 if positive.sum() > 10 else 2)
    for function in (snippet.cut, snippet.whole):
        np.testing.assert_allclose(function(x).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(("sum_", "factor"), [(10, 2), (10.5, 0.2)])
def test_the_threshold(sum_, factor):
    x = torch.tensor([sum_, 0.0, -1.0])
    for function in (snippet.cut, snippet.whole):
        assert function(x).tolist() == pytest.approx([sum_ * factor, 0, 0])


def test_the_lines_printed_are_those_that_cut(capsys):
    file = ROOT / "snippets" / SNIPPET
    names = runpy.run_path(str(file), run_name="__main__")
    source = file.read_text("utf-8").splitlines()
    numbers = [
        n
        for n, line in enumerate(source, start=1)
        if line.startswith(('    print("largest', "    if x.sum()"))
    ]
    said = capsys.readouterr().out.splitlines()
    assert "graphs: 3" in said
    found = [line for line in said if ", line " in line]
    assert found == [f"{file.name}, line {n}: {source[n - 1].strip()}" for n in numbers]
    assert len(numbers) == 2
    assert names["report"].graph_count == 3
    assert names["at"].filename == str(file)
    assert torch._dynamo.explain(snippet.whole)(torch.ones(4, 3)).graph_count == 1
    with pytest.raises(torch._dynamo.exc.Unsupported):
        whole(snippet.cut)(torch.ones(4, 3))
    # compiled, and in one graph: a cut would be an error
    torch.testing.assert_close(
        names["compiled"](torch.ones(4, 3)), torch.full((4, 3), 0.2)
    )
    assert names["compiled"]._torchdynamo_orig_callable is names["whole"]


def branch(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def test_a_branch_and_its_remedies():
    one = torch.ones(3)
    with raises_as_documented(PAGE, "Unsupported: Data-dependent"):
        whole(branch)(one)

    def select(x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    for x in (one, -one):
        assert torch.equal(whole(select)(x), branch(x))


def double(x):
    while x.sum() < 10:
        x = x * 2
    return x


@pytest.mark.parametrize(
    "function", [double, lambda x: x + 1 if x.sum() > 0 and x.max() > 0 else x]
)
def test_while_and_and_are_branches_too(function):
    with raises_as_documented(PAGE, "Unsupported: Data-dependent"):
        whole(function)(torch.ones(2))


def prints(x):
    print("shape", x.shape)
    return x + 1


def opens(x):
    with open(__file__) as file:  # noqa: PTH123
        return x + len(file.name)


@pytest.mark.parametrize("function", [prints, opens])
def test_a_call_of_python(function):
    with raises_as_documented(PAGE, "Unsupported: Failed to trace"):
        whole(function)(torch.ones(2))


def in_for(x):
    for _ in range(2):
        x = x * 2
        print(x.max())
    return x


def in_while(x):
    steps = 2
    while steps:
        steps -= 1
        print(x.max())
    return x * 2


def in_try(x):
    try:
        x = x * 2
        print(x.max())
    finally:
        x = x + 1
    return x


@pytest.mark.parametrize("function", [in_for, in_while, in_try])
def test_a_cut_in_a_loop_leaves_all_to_python(function):
    """Nothing is listed; fullgraph tells."""
    report = torch._dynamo.explain(function)(torch.ones(3))
    assert (report.break_reasons, report.graph_count) == ([], 0)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="from user code"):
        whole(function)(torch.ones(3))


def test_explain_sees_nothing_in_a_model_that_is_compiled_already():
    model = Part()
    assert torch._dynamo.explain(model)(torch.ones(3)).graph_count == 1
    torch._dynamo.reset()
    model.compile(backend="eager")
    assert torch._dynamo.explain(model)(torch.ones(3)).graph_count == 0


class Part(nn.Module):
    def forward(self, x):
        return x * 2


def test_a_cut_before_the_first_operation_is_not_listed():
    report = torch._dynamo.explain(prints)(torch.ones(3))
    assert (report.break_reasons, report.graph_count) == ([], 1)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="from user code"):
        whole(prints)(torch.ones(3))


def test_is_compiling_leaves_the_print_out(capsys):
    def forward(x):
        if not torch.compiler.is_compiling():
            print("seen")
        return x + 1

    whole(forward)(torch.ones(2))
    assert capsys.readouterr().out == ""
    forward(torch.ones(2))
    assert capsys.readouterr().out == "seen\n"


@pytest.mark.parametrize(
    ("function", "remedy"),
    [
        (lambda x: x * x.sum().item(), lambda x: x * x.sum()),
        (lambda x: x * float(x[0]), lambda x: x * x[0]),
        (lambda x: x[x > 0].sum(), lambda x: torch.where(x > 0, x, 0).sum()),
    ],
)
def test_fullgraph_records_what_explain_calls_a_cut(function, remedy):
    x = torch.tensor([2.0, -1.0, 3.0])
    assert len(cuts(function, x)) == 1
    torch.testing.assert_close(whole(function)(x), function(x))
    assert not cuts(remedy, x)
    torch.testing.assert_close(remedy(x), function(x))


def logs(x):
    log.info("shape %s", x.shape)
    return x + 1


def warns(x):
    warnings.warn("seen", stacklevel=1)
    return x + 1


def blurs(x):
    return x + torch.from_numpy(cv2.GaussianBlur(x.numpy(), (3, 3), 0))


@torch.compiler.disable
def left_out(x):
    return x + 1


def branch_on_item(x):
    return x + 1 if x.sum().item() > 3 else x


@pytest.mark.parametrize(
    ("function", "start"),
    [
        (logs, "Unsupported: logging.Logger"),
        (warns, "Unsupported: Attempted"),
        (blurs, "Unsupported: Attempted"),
        (lambda x: left_out(x) * 2, "Unsupported: Skip calling"),
        (branch_on_item, "UserError: Consider annotating"),
        (nn.LSTM(4, 2), "Unsupported: Unsupported function"),
        (nn.GRU(4, 2), "Unsupported: Unsupported function"),
    ],
)
@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace")
def test_messages(function, start):
    with raises_as_documented(PAGE, start):
        whole(function)(torch.ones(4, 4))


def test_an_lstm_if_allowed():
    model = nn.LSTM(4, 2)
    with torch._dynamo.config.patch(allow_rnn=True):
        found, _ = whole(model)(torch.ones(3, 4))
    torch.testing.assert_close(found, model(torch.ones(3, 4))[0])


def test_disable_makes_one_cut():
    (reason,) = cuts(lambda x: left_out(x * 2) * 2, torch.ones(2))
    assert reason.reason.startswith("Skip calling `torch.compiler.disable()`d")
