"""What behaviour tests share: loading a snippet, reading its pages' errors."""

import importlib.util
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
ERROR_FENCE = re.compile(r"^```pytb\n(.*?)^```", re.MULTILINE | re.DOTALL)


def load_snippet(path: str) -> ModuleType:
    """Import ``snippets/<path>`` without running its main guard."""
    file = ROOT / "snippets" / path
    name = f"snippet_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickle looks its classes up
    spec.loader.exec_module(module)
    return module


def documented_errors(page: str) -> list[str]:
    """Return the messages that a page shows in either language, e.g. ``data/x``."""
    files = [ROOT / "docs" / lang / f"{page}.md" for lang in ("en", "zh")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    assert texts, f"no page {page}.md"
    found = [error.strip() for text in texts for error in ERROR_FENCE.findall(text)]
    return list(dict.fromkeys(found))


@contextmanager
def raises_as_documented(page: str):
    """Expect an error that the page quotes, word for word, as its beginning."""
    with pytest.raises(Exception) as caught:  # noqa: PT011, any that is quoted
        yield caught
    raised = f"{caught.type.__name__}: {caught.value}"
    quoted = documented_errors(page)
    assert any(raised.startswith(text) for text in quoted), (
        f"{page}.md does not quote this error:\n{raised}"
    )
