"""``pytest -p tests.order`` runs all in reverse order; with ORDER=random, in any.

A random order is printed with its seed: ORDER=random:42 is that order again. The tests
of a file stay together, for what they share.
"""

import os
import random
from itertools import chain, groupby


def pytest_configure():
    if os.environ.setdefault("ORDER", "backwards") == "random":
        # The workers of pytest-xdist inherit it.
        os.environ["ORDER"] = f"random:{random.randrange(10**6)}"


def pytest_report_header():
    return f"ORDER={os.environ['ORDER']}"


def pytest_collection_modifyitems(items):
    if os.environ["ORDER"] == "backwards":
        items.reverse()
        return
    dice = random.Random(os.environ["ORDER"])
    files = [list(tests) for _, tests in groupby(items, lambda item: item.path)]
    dice.shuffle(files)
    for tests in files:
        dice.shuffle(tests)
    items[:] = chain.from_iterable(files)
