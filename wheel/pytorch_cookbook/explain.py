"""Find the line of a traceback that counts, and the row of a page that explains it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

from pytorch_cookbook import book

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What launchers, Ray, pytest and mail write before each line.
BEFORE = re.compile(
    r"^(?:\s*(?:[EIW]\d{4} [^\]]*\]|\[[^\]]*\]:?|\([^)]*pid=[^)]*\)|E(?=  )|[|>│]))*\s*"
)
RAISED = re.compile(
    r"(?<![\w.(])(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt)"
    r"|OutOfMemory|Unsupported|queue\.Empty|cv2\.error)(?=:\s|:?$)",
    re.ASCII,
)
# What transformers writes before the error of a module that it imports.
PASSED_ON = re.compile(
    r".*because of the following error \(look up to see its traceback\):"
)
# Of a traceback that was cut off, the line that raises may be all there is; a notebook
# numbers those around it.
RAISES = re.compile(r"^(?!\s*\d).*\braise ([\w.]+)\(f?[\"']?")
END = re.compile(r"^$|Traceback|The above exception|During handling|File \"")
CAUSE = re.compile(r"direct cause of the following|\[rank")  # the first one counts
# They only pass on, or go along with, what another line says.
WRAPPER = re.compile(
    r"ChildFailedError|Caught \w+ in|exited unexpectedly|[Cc]onnection (closed|reset)"
    r"|BackendCompilerFailed|Failed running|ProcessRaisedException|KeyboardInterrupt"
    r"|SystemExit|SignalException|RemoteTraceback|RayTaskError|^[\w.]*Warning:"
    r"|EOFError: Ran out of input"  # of a child whose parent could not pickle
    r"|Setting OMP_NUM_THREADS"  # with every torchrun
)
# What differs from one who meets a message to the next: names, types, places.
NAME = re.compile(
    r"(?<!\w)'[^'\s]*'(?! object)|\"[^\"\s]*\"|`[^`]*(?:`|$)|\blib[\w+-]+(?=\.so)"
    r"|\b\w+(?=\(\) received an invalid)"
    r"|(?:torch\.|cuda\.|c10::)*\b(?:B?Float|Double|Half|Long|Int|Short|Byte|Bool)"
    r"(?:16|Tensor)?\b"
)
PLACE = re.compile(
    r"(?:[A-Za-z]:)?(?:[\w.~-]*[/\\])+[\w.-]*|0x[0-9a-f]+|(?:[a-z_]\w*\.)+(?=[A-Z])"
    r"|(?<=Caught )\w+"
)
WORD = re.compile(r"[A-Za-z_]{2,}|[\u3400-\u9fff]")
SYMBOL = re.compile(r"\b(?!(?:self|return|import|None|True|False)\b)[A-Za-z_]\w{3,}")
WINDOWS = re.compile(r"\[(WinError) (\d+)\]")  # the rest is in the user's language
# Their words are alike for all names: the names decide.
NAMED = re.compile(
    "AttributeError|ImportError|KeyError|ModuleNotFound|NameError"
    "|unexpected keyword argument|required positional|unsupported operand"
    "|invalid combination of arguments|to be true, but got false"
    "|cannot open shared object|undefined symbol|as element .* in argument"
)
# Python's and NumPy's, the same for any mistake: the row's code has to be in the log.
PYTHONS = re.compile(
    r"values to unpack|list index out of range|has no len\(\)|'NoneType'"
    r"|object is not (?:callable|iterable|subscriptable)"
    r"|operands could not be broadcast|cannot reshape array"  # NumPy's
)
CODE = re.compile(r"`[^`]+`")
FILE = re.compile(r"\[Errno (2|13|17|20|21|22)\]")  # what is wrong with the file named
LINES = 4  # that a message may go on
MOST = 400  # lines of a log that are compared
LIKE = 0.85  # of a quoted message's words are those of the line
FEW = 3  # words that tell no message from others
MORE = 6  # words that a line may have besides
ALIKE = 0.12  # scores that tell no row from another
FIRST_AID = re.compile(r"/errors/.*#error-[123]$")  # what such a page is about


class Message(NamedTuple):
    """What a line has in common with those of all who meet the same."""

    raised: str  # the exception, without its module
    said: str
    names: frozenset[str]
    words: tuple[str, ...]
    bag: frozenset[str]

    @classmethod
    def of(cls, line: str) -> "Message":
        found = RAISED.match(line)
        raised, said = (found[0], line[found.end() :]) if found else ("", line)
        words = WORD.findall(PLACE.sub(" ", NAME.sub(" ", said)).casefold())
        if windows := WINDOWS.search(said):
            words = windows.groups()
        raised, names = raised.rpartition(".")[2], frozenset(NAME.findall(said))
        return cls(raised, said, names, tuple(words), frozenset(words))


def explain(log: str, lang: str) -> tuple[str, dict | None]:
    """The line that counts of a log, and the row of a page that explains it."""
    lines = [BEFORE.sub("", line) for line in ANSI.sub("", log).splitlines()]
    said = list(dict.fromkeys(messages(lines)))[-MOST:]
    if not said:
        raise book.AskedError("no error in this text; paste a traceback to its end")
    rows = {line: rows_of(line, lang) for line in said}
    for line in filter(PYTHONS.search, said):
        rows[line] = with_its_code(rows[line], line, log)

    def weight(line: str) -> tuple[bool, ...]:
        is_raised, is_known = bool(RAISED.match(line)), bool(rows[line])
        is_quoted = any("#" in row["place"] for row in rows[line])
        is_own = not WRAPPER.search(line)
        is_aid = any("/errors/" in row["place"] for row in rows[line])
        return is_raised or is_known, is_own, is_raised or is_quoted, is_known, is_aid

    most = max(map(weight, said))
    telling = [line for line in said if weight(line) == most]
    line = telling[0 if most[0] and CAUSE.search(log) else -1]
    if not rows[line]:  # where it came from is all that there is to tell
        passed_on = (one for one in said if rows[one] and "Caught " in one)
        line = next(passed_on, line)
    # Of rows that quote the same: on a page about it, then as the search has it.
    rows = [row for row in rows[line] if FIRST_AID.search(row["place"])] or rows[line]
    if len(rows) < 2:
        return line, next(iter(rows), None)
    order = [*book.find(line[:300], lang), *(row["slug"] for row in rows)]
    return line, min(rows, key=lambda row: order.index(row["slug"]))


def messages(lines: list[str]) -> Iterator[str]:
    """The messages of a log, each with the lines that it goes on for."""
    message: list[str] = []
    for line in [*lines, ""]:
        line = PASSED_ON.sub("ImportError:", RAISES.sub(r"\1: ", line))
        raised = RAISED.search(line)
        if message and (raised or END.search(line) or len(message) == LINES):
            yield " ".join(message)
            message = []
        if raised:
            message = [line[raised.start() :].strip()]
        elif message:
            message.append(line.strip())
        elif len(WORD.findall(line)) >= 2:  # Bus error, what CUDA asserts
            yield line.strip()


@cache
def quotes(lang: str) -> list[tuple[Message, dict]]:
    """Every message that a page explains, with its row."""
    rows = book.read("texts.json")[lang]
    return [(Message.of(text), row) for row in rows for text in row["texts"]]


@cache
def quoted_with(lang: str) -> dict[str, list[int]]:
    """By word, which messages have it; those without any by the empty one."""
    found = defaultdict(list)
    for number, (quote, _) in enumerate(quotes(lang)):
        for word in quote.bag or [""]:
            found[word].append(number)
    return found


def rows_of(line: str, lang: str) -> list[dict]:
    """The rows that explain a line, as far as words can tell."""
    own, having = Message.of(line), quoted_with(lang)
    shared = Counter(chain(*(having.get(word, ()) for word in (*own.bag, ""))))
    known = [(quotes(lang)[number], shared[number]) for number in sorted(shared)]
    # Most share a word or two: a long log takes a tenth of the time without them.
    known = [one for one, most in known if most >= LIKE * enough(own, one[0])]
    scored = [(likeness(own, quote), row) for quote, row in known]
    # What has no anchor is not quoted there: a row that quotes the line goes before.
    scored = [(s - ALIKE * ("#" not in row["place"]), row) for s, row in scored if s]
    most = max((score for score, _ in scored), default=0)
    return [row for score, row in scored if score > most - ALIKE]


def with_its_code(rows: list[dict], line: str, log: str) -> list[dict]:
    """The rows whose code names most of what the log does, besides the message."""
    used = set(SYMBOL.findall(log)) - set(SYMBOL.findall(line))
    shared = [len(used.intersection(symbols(row))) for row in rows]
    both = zip(rows, shared, strict=True)
    return [row for row, count in both if count == max(shared) > 0]


def symbols(row: dict) -> list[str]:
    """What the code of a row names."""
    own = row["said"].partition("\n")[0]
    return SYMBOL.findall(" ".join(CODE.findall(own)))


def enough(own: Message, quote: Message) -> int:
    """Of how many words they have to share most; what a cut off message has counts."""
    return min(len(quote.bag), max(len(own.bag), 2 * FEW))


def likeness(own: Message, quote: Message) -> float:
    """How well a line is a quoted message; 0 where it is another."""
    same = own.raised == quote.raised
    if not quote.words:
        return float(same and own.raised != "" and own.said.startswith(quote.said))
    heard = quote.bag.intersection(own.words[: len(quote.words) + MORE])
    share = len(heard) / enough(own, quote)
    if share < LIKE:
        return 0.0
    named = bool(quote.names) and quote.names <= own.names
    # Older releases raised a RuntimeError for what has a name of its own now.
    same = same or (own.raised == "RuntimeError" and quote.raised != "")
    is_told = own.raised != "" or len(quote.words) > 1
    begins = same and is_told and own.words[: len(quote.words)] == quote.words
    by_name = not quote.raised or NAMED.search(own.raised + own.said)
    is_of_file = own.names and FILE.search(own.said)
    is_other = not named and (is_of_file or (quote.names and by_name))
    is_coded = WINDOWS.search(own.said)
    is_vague = len(quote.bag) <= FEW and not (named or begins or is_coded)
    return 0.0 if is_other or is_vague else share + 0.1 * named


def explain_error(traceback: str, lang: str = "") -> str:
    """What a traceback or log means: the line that counts, its causes and the fix."""
    lang = book.language(lang)
    line, row = explain(traceback, lang)
    if not row:
        near = [f"near: {hit}" for hit in book.hits(line[:300], lang)]
        return "\n".join([line, "", "not quoted anywhere in the cookbook", *near])
    place = f"{'quoted' if '#' in row['place'] else 'explained'} in {row['place']}"
    return "\n\n".join([line, place, row["said"], book.get_recipe(row["slug"], lang)])
