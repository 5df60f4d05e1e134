"""err-torch-attribute: the causes planted; what is removed and what replaces it."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
import torch

from cookbook.book import records
from tests.helpers import (
    ROOT,
    assert_documented,
    load_snippet,
    raises_as_documented,
)

PAGE = "errors/err-torch-attribute"


def run(folder, *command: str) -> str:
    """The last line that a Python says which was started in this folder."""
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return (result.stdout + result.stderr).splitlines()[-1]


def test_a_file_of_that_name_is_what_is_imported(tmp_path):
    (tmp_path / "torch.py").write_text("import torch\nprint(torch.tensor(1))\n")
    (tmp_path / "train.py").write_text("import torch\nprint(torch.__file__)\n")
    said = run(tmp_path, "torch.py")
    assert_documented(PAGE, "AttributeError: partially initialized", said)
    (tmp_path / "torch.py").write_text("")
    assert run(tmp_path, "train.py") == str(tmp_path / "torch.py")


def test_a_folder_of_that_name(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text("")
    (tmp_path / "train.py").write_text("import torch\nprint(torch.__file__)\n")
    assert run(tmp_path, "train.py") == str(tmp_path / "torch/__init__.py")


def test_a_bare_folder_where_torch_is_not_installed(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "train.py").write_text("import torch\nprint(torch.__file__)\n")
    assert run(tmp_path, "-S", "train.py") == "None"


def test_submodules_that_have_to_be_imported(tmp_path):
    names = "utils.tensorboard utils.benchmark utils.cpp_extension distributed.fsdp"
    (tmp_path / "ask.py").write_text(f"""
import importlib, operator, torch
names, lacking = {names.split()}, []
for name in names:
    try:
        operator.attrgetter(name)(torch)
    except AttributeError:
        lacking.append(name)
print(*(importlib.import_module("torch." + name).__name__ for name in lacking))
""")
    said = subprocess.check_output([sys.executable, "ask.py"], cwd=tmp_path, text=True)
    assert said.split() == [f"torch.{name}" for name in names.split()]


def test_what_was_removed_and_what_replaces_it():
    a = torch.randn(3, 3, dtype=torch.float64) + 3 * torch.eye(3)
    b = torch.randn(3, 2, dtype=torch.float64)
    for call in (torch.solve, torch.lstsq):
        with pytest.raises(RuntimeError, match=r"deprecated since version 1\.9"):
            call(b, a)
    for call in (torch.symeig, torch.eig, torch.matrix_rank):
        with pytest.raises(RuntimeError, match=r"deprecated since version 1\.9"):
            call(a)
    expected = np.linalg.solve(a.numpy(), b.numpy())
    np.testing.assert_allclose(torch.linalg.solve(a, b), expected)
    np.testing.assert_allclose(torch.linalg.lstsq(a, b).solution, expected)
    upper = a.triu()
    values = torch.linalg.eigh(upper, UPLO="U").eigenvalues
    whole = (upper + upper.T - upper.diag().diag()).numpy()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(whole))
    with raises_as_documented(PAGE, "RuntimeError: This function was deprecated"):
        torch.solve(b, a)
    with raises_as_documented(PAGE, "ModuleNotFoundError: No module named"):
        importlib.import_module("torch._six")
    with raises_as_documented(PAGE, "AttributeError: module 'torch' has no"):
        print(torch.rfft)


NAMES = ("accelerator", "set_stance", "set_submodule", "fully_shard", "Muon")


@pytest.mark.parametrize(
    ("minor", "lacks"), [((2, 4), set(NAMES)), ((2, 6), {"Muon"}), ((2, 8), {"Muon"})]
)
def test_the_releases_of_the_list_as_the_records_have_them(minor, lacks):
    (record,) = (one for one in records.load(ROOT) if one.minor == minor)
    causes = " ".join(one.get("cause", "") for one in record.failed)
    assert {name for name in NAMES if f"'{name}'" in causes} == lacks


def test_names_that_are_there():
    found = load_snippet("errors/err_torch_attribute.py")
    assert found.optimizer_class is torch.optim.Muon
    assert hasattr(torch.nn.Module, "set_submodule")
    assert hasattr(torch.nn, "RMSNorm")
    assert issubclass(torch.cuda.amp.GradScaler, torch.amp.GradScaler)


def test_without_the_name_the_older_one_is_taken(monkeypatch):
    monkeypatch.delattr(torch.optim, "Muon")
    found = load_snippet("errors/err_torch_attribute.py")
    assert found.optimizer_class is torch.optim.AdamW
