"""err-fx-node: what follows "got" for each row, and what the same call says plainly."""

import re

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, run_python

SNIPPET, PAGE = "errors/err_fx_node.py", "errors/err-fx-node"


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@torch.library.custom_op("cookbook::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def compiled(function):
    return torch.compile(function, backend="eager")  # the operators run all the same


@pytest.mark.parametrize(
    ("got", "call", "inputs"),
    [
        ("a and b must have same", nn.Linear(8, 2), [(3, 7)]),
        ("Attempting to broadcast", torch.add, [(3,), (4,)]),
        ("Given groups=1", nn.Conv2d(3, 4, 3), [(1, 1, 8, 8)]),
        ("shape '[5, 5]'", lambda x: x.view(5, 5), [(3, 3)]),
        ("There was no fake impl", doubled, [(3,)]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_row_quotes_what_follows_got(got, call, inputs):
    page = (ROOT / f"docs/en/{PAGE}.md").read_text("utf-8")
    (row,) = set(re.findall(f"^\\| `({re.escape(got)}[^`]*)`", page, re.MULTILINE))
    with raises_as_documented(PAGE, "TorchRuntimeError") as caught:
        compiled(call)(*map(torch.ones, inputs))
    message = str(caught.value)
    assert row in message.partition(" got ")[2]
    assert "from user code:" in message


def test_two_devices_have_a_message_of_their_own():
    with pytest.raises(
        RuntimeError, match="Explanation: Expected all tensors to be on"
    ):
        compiled(torch.add)(torch.ones(3), torch.ones(3, device="meta"))


def test_with_a_fake_impl_the_operator_compiles():
    doubled.register_fake(torch.empty_like)
    assert compiled(doubled)(torch.ones(2)).tolist() == [2, 2]


def test_the_stance_shows_the_plain_error(capsys):
    try:
        load_snippet(SNIPPET)
        got, plain = capsys.readouterr().out.splitlines()
        assert plain.removeprefix("plain: ") in got
        torch._dynamo.reset()
        with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot"):
            torch.compile(nn.Linear(8, 2))(torch.ones(3, 7))
    finally:
        torch.compiler.set_stance("default")


def test_the_variable_shows_it_without_a_line_of_code(tmp_path):
    code = "import torch; torch.compile(torch.nn.Linear(8, 2))(torch.ones(3, 7))"
    ran = run_python("-c", code, folder=tmp_path, TORCH_COMPILE_DISABLE="1")
    assert "mat1 and mat2 shapes cannot be multiplied" in ran.stderr


def test_a_number_for_the_batch_fails_in_the_last_one():
    flat = compiled(lambda x: x.view(4, -1))
    assert flat(torch.ones(4, 2, 3)).shape == (4, 6)
    with raises_as_documented(PAGE, "TorchRuntimeError"):
        flat(torch.ones(1, 1, 3))
    assert compiled(lambda x: x.view(len(x), -1))(torch.ones(1, 1, 3)).shape == (1, 3)


def test_an_index_out_of_range_is_not_found_on_fake_tensors():
    with pytest.raises(IndexError):
        compiled(lambda x: x[torch.tensor([7])])(torch.ones(3))
