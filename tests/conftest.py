"""Fixtures for every test."""

import pytest

from tests import helpers


@pytest.fixture(autouse=True)
def unchanged_globals():
    """Undo what a test's snippet sets process-wide."""
    with helpers.unchanged_globals():
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Tell pytest-xdist which tests share a costly fixture, such as the site."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if "engine" not in item.path.parts:
                group = "site" if item.path.parent.name == "site" else item.path.stem
                item.add_marker(pytest.mark.xdist_group(group))
