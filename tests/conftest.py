"""Fixtures for every test."""

import pytest

from tests import helpers

SPREAD = {"test_contributing", "test_recipe_check"}  # slow, and share nothing


@pytest.fixture(autouse=True)
def unchanged_globals():
    """Undo what a test's snippet sets process-wide."""
    with helpers.unchanged_globals():
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Tell pytest-xdist which tests share a fixture: those of a file, or the site."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            group = "site" if item.path.parent.name == "site" else item.path.stem
            if group not in SPREAD:
                item.add_marker(pytest.mark.xdist_group(group))
