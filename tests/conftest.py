"""Fixtures for every test."""

import os
import sys

import pytest
import torch.distributed as dist

from tests import helpers
from tests import own_process as apart


@pytest.fixture(autouse=True)
def unchanged_globals():
    """Undo what a test's snippet sets process-wide."""
    with helpers.unchanged_globals():
        yield


@pytest.fixture
def own_process():
    """Run the test in a Python of its own, as whatever opens a process group must."""


@pytest.fixture
def group(own_process):
    """A process group of one process."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Hand over the tests that run in a Python of their own."""
    listens = item.config.pluginmanager.has_plugin("tests.wordings")  # to this Python
    if not apart.apart(item) or apart.inside() or listens:
        return None
    apart.run_apart(item, nextitem)
    return True


@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if apart.inside():
        apart.note(item.config, report)
    return report


def pytest_unconfigure():
    """End at once: a group that a test has left may abort Python's exit."""
    if apart.inside():
        sys.stdout.flush()
        os._exit(0)
