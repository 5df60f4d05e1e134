"""A pytest plugin: what the tests of documented messages raise on another torch.

``make compat`` loads it. Messages are written down instead of compared.
"""

import inspect

import torch

from cookbook.book import wordings
from tests import helpers

heard: list[tuple[str, str, str]] = []


def hear(page: str, start: str, raised: str) -> None:
    """Stand in for ``assert_documented``."""
    heard.append((page, helpers.quoted(page, start), raised))


helpers.assert_documented = hear  # before any test imports it


def pytest_collection_modifyitems(items):
    """Only tests of documented messages."""
    items[:] = [i for i in items if "documented" in inspect.getsource(i.function)]


def pytest_sessionfinish():
    """Write what was heard."""
    release = torch.__version__.partition("+")[0]
    wordings.write(helpers.ROOT, release, heard)
