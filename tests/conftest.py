"""Fixtures for every test."""

import pytest

from tests import helpers


@pytest.fixture(autouse=True)
def unchanged_globals():
    """Undo what a test's snippet sets process-wide."""
    with helpers.unchanged_globals():
        yield
