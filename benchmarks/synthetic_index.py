"""A search index of as many recipes as wanted, grown from the real one.

A made-up recipe says what a real one says, with some of the words exchanged for
those of others, and some that nobody else uses. The shares are such that the
vocabulary grows with the number of recipes as it does among the real ones.
"""

import random
import re
from collections.abc import Callable

MIXED = ("title", "text", "aliases", "errors")
KEPT = ("answers", "tags")
EXCHANGED = 0.4
COINED = 0.06  # Latin words; Chinese ones arise where words are exchanged
LATIN = "[A-Za-z][A-Za-z0-9_.]*"
WORD = re.compile(f"{LATIN}|[\u4e00-\u9fff]{{1,2}}")


def grown(index: dict, recipes: int) -> dict:
    """A language's index with made-up recipes behind the real ones.

    Always the same for the same recipes.
    """
    rng = random.Random(0)
    docs = {column: list(texts) for column, texts in index["docs"].items()}
    real = len(docs["location"])
    mixed = [docs[column] for column in MIXED]
    topics = [texts[real:] for texts in mixed]  # follow the recipes
    for texts in mixed:
        del texts[real:]
    exchange = exchanger(rng, [text for texts in mixed for text in texts])
    for number in range(real, recipes):
        model = rng.randrange(real)
        for texts in mixed:
            texts.append(WORD.sub(exchange, texts[model]))
        for column in KEPT:
            docs[column].append(docs[column][model])
        docs["location"].append(f"{docs['location'][model][:-1]}-{number}/")
    for texts, more in zip(mixed, topics, strict=True):
        texts.extend(more)
    return {**index, "docs": docs}


def exchanger(rng: random.Random, texts: list[str]) -> Callable[[re.Match], str]:
    """Returns what stands for a word: it, another of its script, or a new one."""
    words = [word for text in texts for word in WORD.findall(text)]
    latin = [word for word in words if word.isascii()]
    chinese = [word for word in words if not word.isascii()]

    def exchange(match: re.Match) -> str:
        word, chance = match[0], rng.random()
        if word.isascii() and chance < COINED:
            begin, end = rng.choices(latin, k=2)
            latin.append(begin[: len(begin) // 2 + 1] + end[len(end) // 2 :])
            return latin[-1]
        if chance < EXCHANGED:
            return rng.choice(latin if word.isascii() else chinese)
        return word

    return exchange
