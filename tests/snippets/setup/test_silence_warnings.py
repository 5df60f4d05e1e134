"""silence-warnings: what each filter lets through, also in other processes."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch.nn.functional import mse_loss

from tests.helpers import lacking, load_snippet

FILE = "setup/silence_warnings.py"
WARN = "import warnings; warnings.warn('To copy construct from a tensor')"


def stderr(*command, **environment):
    done = subprocess.run(
        [sys.executable, *command],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


@pytest.fixture
def snippet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield load_snippet(FILE)


def test_only_that_warning_is_silent(snippet):
    assert torch.equal(torch.tensor(snippet.x), snippet.y)
    with pytest.raises(UserWarning, match="Using a target size"):
        mse_loss(torch.zeros(3, 1), torch.ones(3))
    for text in ("another warning", "Note: To copy construct from a tensor"):
        with pytest.raises(UserWarning, match=text):
            warnings.warn(text, stacklevel=1)


def test_what_is_printed(snippet, capsys):
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
    assert "To copy construct" in stderr("-c", WARN, PYTHONWARNINGS="")
    for rule in ("ignore::UserWarning", "ignore:To copy construct"):
        assert stderr("-c", WARN, PYTHONWARNINGS=rule) == ""
    assert stderr("-W", "ignore:To copy construct", "-c", WARN) == ""


def test_log_lines():
    log = "logging.getLogger('torch.a').warning"
    quiet = "logging.getLogger('torch').setLevel(logging.ERROR)"
    code = f"import torch, logging; {log}('before'); {quiet}; {log}('after')"
    shown = stderr("-c", code)
    assert "before" in shown
    assert "after" not in shown
    library = Path(torch.__file__).parent / "lib/libc10.so"
    assert not lacking(library, "TORCH_CPP_LOG_LEVEL")
