"""``pytest -p tests.backwards`` runs all in reverse order, as make again does."""


def pytest_collection_modifyitems(items):
    items.reverse()
