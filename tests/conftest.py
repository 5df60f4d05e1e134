"""For every test: a time limit, and nothing that it leaves in pytest's process."""

import os

import pytest

from tests import helpers
from tests.leftovers import Before
from tests.limits import limited, stderr_key

os.environ["PYTHONFAULTHANDLER"] = "1"  # what a test starts tells where it hangs


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


@pytest.fixture
def switches():
    """Undoes what the functions under test set for the whole process."""
    with helpers.unchanged_globals():
        yield


@pytest.fixture(autouse=True)
def nothing_left(request):
    """Refuse a test that leaves what the next would meet; seeds are set again.

    It comes after all fixtures of a wider scope, and looks after the test's own.
    """
    with helpers.unchanged_globals():
        before = Before()
        yield
        if left := before.left():
            leaves = "\n".join(left)
            pytest.fail(f"{request.node.nodeid} leaves\n{leaves}", pytrace=False)
