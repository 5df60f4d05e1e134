"""``pytest -p tests.order`` runs all in reverse order; ``--order random``, in any.

A random order is printed with its seed: ``--order random:42`` is that order again.
The tests of a file stay together, for what they share.
"""

import random
from itertools import chain, groupby


def pytest_addoption(parser):
    parser.addoption("--order", default="backwards", help="backwards, random[:SEED]")


def pytest_configure(config):
    if config.option.order == "random":  # pytest-xdist hands it to its workers
        config.option.order = f"random:{random.randrange(10**6)}"


def pytest_report_header(config):
    return f"order: {config.option.order}"


def pytest_collection_modifyitems(config, items):
    kind, _, seed = config.option.order.partition(":")
    if kind == "backwards":
        items.reverse()
        return
    dice = random.Random(int(seed))
    files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
    dice.shuffle(files)
    for tests in files:
        dice.shuffle(tests)
    items[:] = chain.from_iterable(files)
