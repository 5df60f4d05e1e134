"""silence-warnings: what each filter lets through, also in other processes."""

import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.distributed.elastic.utils.logging import get_logger
from torch.nn.functional import mse_loss

from tests.helpers import lacking, load_snippet, recipes

FILE = "setup/silence_warnings.py"
WARN = """
import warnings
warnings.warn("To copy construct from a tensor")
warnings.warn("Note: To copy construct")
warnings.warn("old", FutureWarning)
"""


@pytest.fixture
def snippet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield load_snippet(FILE)


def test_only_that_warning_is_silent(snippet):
    assert not snippet.encoder.use_nested_tensor
    nn.TransformerEncoder(snippet.layer, 1)  # would raise the warning
    with pytest.raises(UserWarning, match="Using a target size"):
        mse_loss(torch.zeros(3, 1), torch.ones(3))
    for text in ("another warning", "Note: enable_nested_tensor is True"):
        with pytest.raises(UserWarning, match=text):
            warnings.warn(text, stacklevel=1)


def test_brackets_in_the_text_are_taken_literally():
    answer, text = recipes()["silence-warnings"].answer.text, "lr=(0.1, 0.2) is [high]?"
    begins = "enable_nested_tensor is True"
    assert answer.count(begins) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(answer.replace(begins, text), {})
        warnings.warn(f"{text} Choose less.", stacklevel=1)
        with pytest.raises(UserWarning, match="lr=0"):
            warnings.warn("lr=0.1, 0.2 is hig", stacklevel=1)


def test_what_is_printed(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own filter comes first
        load_snippet(FILE)
    assert capsys.readouterr().out == (
        "still seen: Using a target size (torch.Size([3])) that is d\n"
    )


def test_the_module_is_that_of_the_caller():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module="torch")
        torch.tensor(torch.ones(3))
        warnings.filterwarnings("ignore", message=".*sourceTensor.detach")
        torch.tensor(torch.ones(3))
    assert [Path(warning.filename) for warning in seen] == [Path(__file__)]


def test_the_environment_and_the_option():
    done = subprocess.run(
        [sys.executable, "-W", "ignore:To copy construct", "-c", WARN],
        env=os.environ | {"PYTHONWARNINGS": "ignore::FutureWarning"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.count("Warning: ") == 1
    assert "UserWarning: Note: To copy construct" in done.stderr


def test_log_lines(monkeypatch):
    torch_logger, child = logging.getLogger("torch"), logging.getLogger("torch.a")
    monkeypatch.setattr(torch_logger, "level", torch_logger.level)  # put back
    assert child.isEnabledFor(logging.WARNING)
    torch_logger.setLevel(logging.ERROR)
    assert not child.isEnabledFor(logging.WARNING)
    monkeypatch.undo()
    torch_logger.manager._clear_cache()  # of isEnabledFor
    assert child.isEnabledFor(logging.WARNING)
    library = Path(torch.__file__).parent / "lib/libc10.so"
    assert not lacking(library, "TORCH_CPP_LOG_LEVEL")


def test_the_level_of_torchrun(monkeypatch):
    monkeypatch.setenv("LOGLEVEL", "ERROR")
    assert get_logger("torch.distributed.test").level == logging.ERROR
