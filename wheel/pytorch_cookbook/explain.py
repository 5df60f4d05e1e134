"""Find the line of a traceback that counts, and the row of a page that explains it."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pytorch_cookbook import book

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What launchers, notebooks, pytest and logs write before each line.
BEFORE = re.compile(
    r"""^(?:\s*(?:
      [WEI]\d{4}\ [\d:.]+\ \d+\ \S+\]        # W1024 01:17:10.9 140404 x.py:1009]
    | \[[\d:.]+\]:                            # [01:17:10.938]:
    | \[(?:default|rank)?\d+\]:?              # [rank0]:
    | \(\w[\w.]*\ pid=\d+[^)]*\)              # (RayTrainWorker pid=12)
    | E(?=\ \ )                               # pytest
    | [|>]                                    # quoted
    | \d{4}-\d\d-\d\d[T ][\d:.,+Z]+           # 2026-11-20T10:00:00
    | \[\d{4}-[^\]]*\]
    | \[?(?:ERROR|WARNING|INFO)\]?:?
    ))*\s*""",
    re.VERBOSE,
)
RAISED = re.compile(
    r"(?<![\w.(])(?P<name>[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt)"
    r"|OutOfMemory|queue\.Empty)(?=: |:?$)",
    re.ASCII,
)
END = re.compile(
    r"^(Traceback|The above exception|During handling|Original Traceback|\s*File \"|$)"
)
CAUSE = "direct cause of the following"
# They only pass on, or follow from, what another line says.
WRAPPER = re.compile(
    r"ChildFailedError|Caught \w+ in|exited unexpectedly|[Cc]onnection (closed|reset)"
    r"|BackendCompilerFailed|Failed running|ProcessRaisedException|KeyboardInterrupt"
    r"|SystemExit|SignalException|RemoteTraceback|RayTaskError"
    r"|EOFError: Ran out of input"  # of a child whose parent could not pickle
)
NAME = re.compile(r"(?<!\w)'[^']*'|\"[^\"]*\"|`[^`]*`")
NUMBER = re.compile(r"\d[\d.,x]*")
WORD = re.compile(r"[A-Za-z_]{2,}|[\u3400-\u9fff]")
PLACE = re.compile(r"(?:[A-Za-z]:)?(?:[\w.~-]*[/\\])+[\w.-]*|0x[0-9a-f]+")
CODE = re.compile(r"\s*(?:File \"|[-─=*#+~^|>]{3}|-+> \d|\d+ )|.*[({\[,]$|\w+ ?= ?\w")
# Their words are alike for all names: the names decide.
NAMED = {
    "AttributeError",
    "ModuleNotFoundError",
    "ImportError",
    "NameError",
    "KeyError",
}
LINES = 4  # that a message may go on
MOST = 400  # lines of a log that are compared
LIKE = 0.8  # of a quoted message's words, in order, are those of the line
FEW = 3  # words that tell no message from others
MORE = 6  # words that a line has within what is quoted
WIDE = 80  # words of a line that are compared
FIRST_AID, TOP = "errors", 3  # the messages that a page of this category is about
ALIKE = 0.12  # scores that tell no row from another


@dataclass(frozen=True)
class Found:
    """A line that says what went wrong, and the row that quotes it."""

    line: str
    score: float = 0.0
    slug: str = ""
    row: dict | None = None  # text, anchor, row


def explain(log: str, lang: str) -> Found:
    """The line that counts of a log, with its row where a page quotes it.

    Raises:
        AskedError: there is nothing in it that went wrong.
    """
    lines = [BEFORE.sub("", line) for line in ANSI.sub("", log).splitlines()]
    said = list(dict.fromkeys(candidates(lines)))[-MOST:]
    found = [match(line, lang) for line in said]
    found = [one for one in found if one.row or RAISED.match(one.line)] or found[-1:]
    if not found:
        raise book.AskedError("no error in this text; paste a traceback to its end")
    telling = [one for one in found if not WRAPPER.search(one.line)] or found
    quoted = [one for one in telling if one.row] or telling
    return quoted[0 if CAUSE in log or "[rank" in log else -1]


def candidates(lines: list[str]) -> Iterator[str]:
    """The messages of a log, each with the lines that it goes on for.

    Not all of them name an exception: Killed, Bus error, what CUDA asserts.
    """
    for number, line in enumerate(lines):
        raised = RAISED.search(line)
        if not raised:
            if len(words(line)) >= 2 and not CODE.match(line):
                yield line.strip()
            continue
        more = []
        for following in lines[number + 1 : number + LINES]:
            if END.match(following) or RAISED.search(following):
                break
            more.append(following.strip())
        yield " ".join([line[raised.start() :].strip(), *more])


@cache
def quotes(lang: str) -> list[tuple[str, dict, str, tuple[str, ...]]]:
    """Every message that a page quotes: recipe, row, exception, words."""
    return [
        (slug, row, *parted(row["text"]))
        for slug, one in book.recipes().items()
        for row in one["rows"][lang]
    ]


@cache
def homes(lang: str) -> dict[str, list[int]]:
    """Word → the numbers of the quotes that have it."""
    found: dict[str, list[int]] = {}
    for number, (_, _, _, text) in enumerate(quotes(lang)):
        for word in set(text):
            found.setdefault(word, []).append(number)
    return found


def parted(line: str) -> tuple[str, tuple[str, ...]]:
    """The exception's name, and the words of what it says."""
    raised = RAISED.match(line)
    name = raised["name"].rpartition(".")[2] if raised else ""
    return name, words(line[raised.end() :] if raised else line)


def words(text: str) -> tuple[str, ...]:
    """What is the same whoever meets the message: no names, numbers, places."""
    text = PLACE.sub(" ", NAME.sub(" ", text))
    return tuple(word.casefold() for word in WORD.findall(text))


def match(line: str, lang: str) -> Found:
    """A line with the row that quotes it best; with none where no page does."""
    name, own = parted(line)
    shared = Counter(n for word in set(own) for n in homes(lang).get(word, ()))
    found = []
    for number in shared | dict.fromkeys(short(lang), len(own)):
        slug, row, theirs, text = quotes(lang)[number]
        if shared[number] < LIKE * min(len(set(text)), max(len(set(own)), FEW)):
            continue
        score = likeness(line, own, row["text"], text, name == theirs)
        if score:
            score -= 0.1 * (name != theirs and bool(name))
            found.append(Found(line, score, slug, row))
    if not found:
        return Found(line)
    best = max(one.score for one in found)
    return first_of([one for one in found if one.score > best - ALIKE], lang)


def first_of(found: list[Found], lang: str) -> Found:
    """Of the pages that quote the same: what is about it, then as the search has it."""
    if len({one.slug for one in found}) == 1:
        return max(found, key=lambda one: one.score)
    order = [one["slug"] for one in book.find(found[0].line[:300], lang)]

    def place(one: Found) -> tuple:
        home = book.recipe(one.slug)["category"] == FIRST_AID
        is_about_it = home and int(one.row["anchor"].rpartition("-")[2]) <= TOP
        known = order.index(one.slug) if one.slug in order else len(order)
        return not is_about_it, known, -one.score

    return min(found, key=place)


@cache
def short(lang: str) -> list[int]:
    """The quotes that say nothing but names: KeyError: 'model'."""
    return [n for n, (_, _, _, text) in enumerate(quotes(lang)) if not text]


def likeness(line: str, own: tuple, quoted: str, text: tuple, same: bool) -> float:
    """How well a line is a quoted message; 0 where it is another.

    same: they name the same exception.
    """
    begins = template(line).startswith(template(quoted.split("…")[0]))
    begins |= same and len(text) == FEW and own[:FEW] == text
    names, asked = set(NAME.findall(quoted)), set(NAME.findall(line))
    known = quoted.split(":")[0].rpartition(".")[2] in NAMED
    has_names = names and names <= asked
    if (len(text) <= FEW or known) and not begins and not has_names:
        return 0.0
    if known and names and not has_names and len(text) <= FEW:
        return 0.0  # No module named: which one is all that it says
    blocks = difflib.SequenceMatcher(None, text, own[:WIDE], autojunk=False)
    *alike, _ = blocks.get_matching_blocks()
    common = sum(block.size for block in alike)
    if alike and alike[-1].b + alike[-1].size - alike[0].b > common + MORE:
        return 0.0  # here and there
    # Of a message that was cut off, what is there counts.
    share = common / max(1, min(len(text), max(len(own), 2 * FEW)))
    if share < LIKE and not begins:
        return 0.0
    # Of those that fit: the longer, then the one with the line's own names.
    return max(share, LIKE) + common / 1000 + 0.1 * bool(has_names)


def template(text: str) -> str:
    """A message for any numbers, to compare letter by letter."""
    return " ".join(NUMBER.sub("0", text).split())


def told(log: str, lang: str) -> str:
    """What is to be said of a log."""
    found = explain(log, lang)
    if not found.row:
        near = book.find(found.line[:300], lang)[: book.SHOWN]
        lines = [found.line, "", "not quoted anywhere in the cookbook"]
        return "\n".join([*lines, *(f"near: {book.hit(one, lang)}" for one in near)])
    one = book.recipe(found.slug)
    place = f"{lang}/{one['category']}/{one['slug']}/#{found.row['anchor']}"
    row, causes = (
        book.passage(found.slug, lang, text)
        for text in (found.row["row"], one["causes"][lang])
    )
    parts = [found.line, f"quoted in: {one['title'][lang]} ({place})", row]
    parts += [causes] if causes not in row else []
    return "\n\n".join([*parts, book.shown(one, lang, "answer")])
