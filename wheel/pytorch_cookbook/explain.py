"""Find the line of a traceback that counts, and the row of a page that explains it."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pytorch_cookbook import book

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What launchers, notebooks, pytest and logs write before each line.
BEFORE = re.compile(
    r"""^(?:\s*(?:
      \[[^\]]*\]:?                   # [rank0]:
    | \(\w[\w.]*\ pid=\d+[^)]*\)     # (RayTrainWorker pid=12)
    | \d{4}-\d\d-\d\d[T ][\d:.,+Z]+  # 2026-11-20T10:00:00
    | [WEI]\d{4}\ [\d:.]+\ \d+\ \S+\]  # W1024 01:17:10.9 140404 x.py:1009]
    | (?:ERROR|WARNING|INFO):?
    | E(?=\ \ ) | [|>]               # pytest, a quotation
    ))*\s*""",
    re.VERBOSE,
)
RAISED = re.compile(
    r"(?<![\w.(])(?P<name>[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt)"
    r"|OutOfMemory|queue\.Empty)(?=: |:?$)",
    re.ASCII,
)
END = re.compile(
    r"Traceback|The above exc|During handl|Original Traceback|\s*File \"|$"
)
CAUSE = re.compile(r"direct cause of the following|\[rank")  # the first one counts
# They only pass on, or follow from, what another line says.
WRAPPER = re.compile(
    r"ChildFailedError|Caught \w+ in|exited unexpectedly|[Cc]onnection (closed|reset)"
    r"|BackendCompilerFailed|Failed running|ProcessRaisedException|KeyboardInterrupt"
    r"|SystemExit|SignalException|RemoteTraceback|RayTaskError"
    r"|EOFError: Ran out of input"  # of a child whose parent could not pickle
)
# What differs from one who meets a message to the next: names, types, places.
NAME = re.compile(
    r"(?<!\w)'[^']*'(?! object)|\"[^\"]*\"|`[^`]*(?:`|$)"
    r"|(?:torch\.|cuda\.|c10::)*\b(?:B?Float|Double|Half|Long|Int|Short|Byte|Bool)"
    r"(?:16|Tensor)?\b"
)
PLACE = re.compile(
    r"(?:[A-Za-z]:)?(?:[\w.~-]*[/\\])+[\w.-]*|0x[0-9a-f]+|(?:[a-z_]\w*\.)+(?=[A-Z])"
)
WORD = re.compile(r"[A-Za-z_]{2,}|[\u3400-\u9fff]")
WINDOWS = re.compile(r"\[(WinError) (\d+)\]")  # the rest is in the user's language
# Their words are alike for all names: the names decide.
NAMED = re.compile("AttributeError|ImportError|KeyError|ModuleNotFound|NameError")
LINES = 4  # that a message may go on
MOST = 400  # lines of a log that are compared
LIKE = 0.85  # of a quoted message's words are those of the line
FEW = 3  # words that tell no message from others
MORE = 6  # words that a line may have besides
ALIKE = 0.12  # scores that tell no row from another
FIRST_AID = re.compile(r"/errors/.*#error-[123]$")  # what such a page is about


class Message(NamedTuple):
    """A line, and what it has in common with all who meet it."""

    line: str
    raised: str  # the exception, without its module
    names: frozenset[str]
    words: tuple[str, ...]
    bag: frozenset[str]

    @classmethod
    def of(cls, line: str) -> "Message":
        found = RAISED.match(line)
        raised = found["name"].rpartition(".")[2] if found else ""
        said = line[found.end() :] if found else line
        plain = WORD.findall(PLACE.sub(" ", NAME.sub(" ", said)).casefold())
        windows = WINDOWS.search(said)
        words = windows.groups() if windows else tuple(plain)
        return cls(line, raised, frozenset(NAME.findall(said)), words, frozenset(words))


class Found(NamedTuple):
    """A line that says what went wrong, and the row that quotes it."""

    line: str
    score: float = 0.0
    slug: str = ""
    row: dict | None = None


def explain(log: str, lang: str) -> Found:
    """The line that counts of a log, with its row where a page quotes it.

    Raises:
        AskedError: there is nothing in it that went wrong.
    """
    lines = [BEFORE.sub("", line) for line in ANSI.sub("", log).splitlines()]
    said = list(dict.fromkeys(messages(lines)))[-MOST:]
    quoted = {line: quotes_of(line, lang) for line in said}
    telling = [line for line in said if quoted[line] or RAISED.match(line)] or said[-1:]
    telling = [line for line in telling if not WRAPPER.search(line)] or telling
    telling = [line for line in telling if quoted[line]] or telling
    if not telling:
        raise book.AskedError("no error in this text; paste a traceback to its end")
    line = telling[0 if CAUSE.search(log) else -1]
    return first_of(quoted[line], lang) if quoted[line] else Found(line)


def messages(lines: list[str]) -> Iterator[str]:
    """The messages of a log, each with the lines that it goes on for.

    Not all of them name an exception: Killed, Bus error, what CUDA asserts.
    """
    message: list[str] = []
    for line in [*lines, ""]:
        raised = RAISED.search(line)
        if message and (raised or END.match(line) or len(message) == LINES):
            yield " ".join(message)
            message = []
        if raised:
            message = [line[raised.start() :].strip()]
        elif message:
            message.append(line.strip())
        elif len(WORD.findall(line)) >= 2:
            yield line.strip()


@cache
def quotes(lang: str) -> list[tuple[Message, str, dict]]:
    """Every message that a page quotes, the recipe and the row."""
    return [
        (Message.of(row["text"]), address.removeprefix(f"{lang}/"), row)
        for address, texts in book.read("texts.json").items()
        if address.startswith(lang)
        for row in texts["rows"]
    ]


def quotes_of(line: str, lang: str) -> list[Found]:
    """The rows that quote a line best."""
    own = Message.of(line)
    found = [
        Found(line, score, slug, row)
        for quote, slug, row in quotes(lang)
        if (score := likeness(own, quote))
    ]
    best = max((one.score for one in found), default=0)
    return [one for one in found if one.score > best - ALIKE]


def likeness(own: Message, quote: Message) -> float:
    """How well a line is a quoted message; 0 where it is another."""
    if not quote.words:
        return float(own.line.startswith(quote.line))
    heard = quote.bag.intersection(own.words[: len(quote.words) + MORE])
    # Of a message that was cut off, what is there counts.
    share = len(heard) / min(len(quote.bag), max(len(own.bag), 2 * FEW))
    if share < LIKE:
        return 0.0
    named = bool(quote.names) and quote.names <= own.names
    begins = own.raised == quote.raised and own.words[: len(quote.words)] == quote.words
    is_other = quote.names and not named and NAMED.match(quote.raised)
    if is_other or (len(quote.bag) <= FEW and not (named or begins)):
        return 0.0
    return share + 0.1 * named


def first_of(found: list[Found], lang: str) -> Found:
    """Of the rows that quote the same: what is about it, then as the search has it."""
    order = book.find(found[0].line[:300], lang)

    def place(one: Found) -> tuple:
        rank = order.index(one.slug) if one.slug in order else len(order)
        return not FIRST_AID.search(one.row["place"]), rank, -one.score

    return min(found, key=place)


def explain_error(traceback: str, lang: str = "") -> str:
    """What a traceback or log means: the line that counts, its causes and the fix."""
    lang = book.language(lang)
    found = explain(traceback, lang)
    if not found.row:
        near = [f"near: {hit}" for hit in book.hits(found.line[:300], lang)]
        return "\n".join([found.line, "", "not quoted anywhere in the cookbook", *near])
    place = f"quoted in {found.row['place']}"
    answer = book.get_recipe(found.slug, lang)
    return "\n\n".join([found.line, place, found.row["said"], answer])
