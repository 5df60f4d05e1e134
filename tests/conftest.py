"""For every test: a time limit, and nothing that it leaves in pytest's process."""

import os
import sys

import pytest
import torch
import torch.distributed as dist

from tests import helpers
from tests import own_process as apart
from tests.leftovers import Before, noted, watch
from tests.limits import limited, stderr_key

os.environ["PYTHONFAULTHANDLER"] = "1"  # what a test starts tells where it hangs
# While from_pretrained of transformers builds a model, torch.linspace is another one.
# Were a torch.device first entered there, torch would keep the other in its list of
# what makes tensors, and no later `with torch.device(…):` would reach torch.linspace.
with torch.device("meta"):
    torch.empty(0)
if not apart.inside():  # that Python is watched as the one that starts it
    watch()


def pytest_configure(config):
    config.stash[stderr_key] = os.dup(2)  # before a test, when nothing is captured


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    with limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    with limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    with limited(item):
        return (yield)


@pytest.fixture(scope="session")
def browser():
    from tests.browser import chromium  # which no recipe's test needs

    with chromium() as opened:
        yield opened


@pytest.fixture
def switches():
    """Undoes what the functions under test set for the whole process."""
    with helpers.unchanged_globals():
        yield


@pytest.fixture(autouse=True)
def nothing_left(request):
    """Refuse a test that leaves what the next would meet; each draws the same numbers.

    It comes after all fixtures of a wider scope, and looks after the test's own.
    """
    with helpers.unchanged_globals():
        helpers.seed()  # torch starts with another in each process
        before = Before()
        yield
        left = noted(request.path)
        if not apart.inside():  # that Python ends with its file
            left += before.left()
        if left:
            leaves = "\n".join(left)
            pytest.fail(f"{request.node.nodeid} leaves\n{leaves}", pytrace=False)


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
    apart.close()
    if apart.inside():
        sys.stdout.flush()
        os._exit(0)
