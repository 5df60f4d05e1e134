"""The rules of one page: its front matter, its blocks and their marks, its headings."""

import ast
import re
from collections.abc import Iterator

from cookbook.book.pages import ALT, PASSIVE, PYTHON, YOURS, Block, Page, PageError
from cookbook.book.twins import KEY
from cookbook.rules import Problem, limits

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SENTENCE_END = {"en": ".", "zh": "。"}
NEXT_SENTENCE = {"en": ". ", "zh": "。"}  # a Chinese one follows without a space
TEXTS, LISTS = ("title", "description"), ("aliases", "related", "covers", "tags")
OWN = (*TEXTS, "aliases", ALT, YOURS, KEY)
SHARED = ("related", "covers", "tags", "answer", "command", "shape")
# A word; a Chinese character counts as one.
WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
GPU = re.compile(r"nvidia-smi|\b(accelerator|cuda|mps|nccl|ncu|nsys|nvcc|xpu)\b")
HIDES_FAILURE = re.compile(r"\|\| *(true|:)(?![\w/])|\bset \+e\b")


def problems(page: Page) -> Iterator[Problem]:
    """What is wrong with a recipe's page by itself."""
    if not SLUG.fullmatch(page.slug):
        yield page.problem(1, "slug-malformed", name=page.path.name)
    try:
        yield from _front_matter_problems(page)
        yield from _block_problems(page)
    except PageError as error:
        yield error.problem
    yield from _heading_problems(page)
    yield from unclear(page, "block-not-plain")


def unclear(page: Page, rule_of_blocks: str) -> Iterator[Problem]:
    """What the site may show differently from how the checks read it."""
    rules = {"block": rule_of_blocks, "html": "html-in-page"}
    for line, kind, text in page.document.unclear:
        yield page.problem(line, rules[kind], text=text.strip().partition("\n")[0])


def _front_matter_problems(page: Page) -> Iterator[Problem]:
    """Its keys; the only page of a recipe has those that both languages share, too."""
    meta, at = page.meta, page.meta_line
    shared = page.lang == "en" or not (page.root / page.twin_path).exists()
    known = (*OWN, *SHARED) if shared else OWN
    for key in meta.keys() - {*known}:
        facts = {"key": key, "known": ", ".join(known)}
        yield page.problem(at(key), "front-matter-unknown-key", **facts)
    for key in TEXTS:
        text, limit = meta.get(key), limits.FRONT_MATTER[key]
        if not isinstance(text, str) or not text.strip():
            yield page.problem(at(key), "front-matter-key-missing", key=key)
        elif len(text) > limit:
            facts = {"key": key, "count": len(text), "limit": limit}
            yield page.problem(at(key), "text-too-long", **facts)
    for key in (key for key in LISTS if key in known):
        value = meta.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            yield page.problem(at(key), "list-of-words", key=key)
    if not meta.get("aliases"):
        yield page.problem(at("aliases"), "front-matter-key-missing", key="aliases")
    if shared and "related" not in meta:
        yield page.problem(1, "front-matter-key-missing", key="related")
    description, end = str(meta.get("description", "")), SENTENCE_END[page.lang]
    several = NEXT_SENTENCE[page.lang] in description[:-1]
    if description and (several or not description.endswith(end)):
        yield page.problem(at("description"), "description-one-sentence", end=end)


def _block_problems(page: Page) -> Iterator[Problem]:
    if not page.blocks:
        yield page.problem(1, "block-missing")
    told = page.meta.get(ALT, {})  # every picture is told in words, and nothing else is
    if not isinstance(told, dict) or told.keys() != page.pictures.keys():
        names = ", ".join(page.pictures) or "none"
        yield page.problem(page.meta_line(ALT), "picture-without-alt", names=names)
    for fence in page.fences:
        if fence.language in PASSIVE and _imports(fence.code):
            facts = {"language": fence.language}
            yield page.problem(fence.line, "python-in-text-block", **facts)
    for block in page.blocks:
        yield from _mark_problems(page, block)
        if block.language != PYTHON and (hides := HIDES_FAILURE.search(block.code)):
            line = block.line + 1 + block.code[: hides.start()].count("\n")
            yield page.problem(line, "failure-hidden", text=hides[0])


def _mark_problems(page: Page, block: Block) -> Iterator[Problem]:
    """A mark keeps a block from running here, so it needs a cause.

    Whether a snippet for a GPU needs one is tried: it must fail without.
    """
    if block.mark == "gpu" and not GPU.search(_marked_code(page)):
        yield page.problem(block.line - 1, "gpu-mark-unearned")
    if block.mark == "skip":
        words = len(WORD.findall(block.reason))
        if block.language == PYTHON or words < limits.REASON_WORDS:
            yield page.problem(block.line - 1, "skip-mark-unearned")


def _marked_code(page: Page) -> str:
    return "\n".join(block.code for block in page.blocks if block.mark == "gpu")


def _imports(text: str) -> bool:
    """Whether a text is Python that imports something."""
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)


def _heading_problems(page: Page) -> Iterator[Problem]:
    """Headings without an id of their own; pitfalls beyond the fifth."""
    seen: set[str] = set()
    for heading in page.headings:
        if heading.level == 1:
            yield page.problem(heading.line, "heading-level-1")
        elif heading.id is None:
            yield page.problem(heading.line, "heading-without-id")
        elif heading.id in seen:
            yield page.problem(heading.line, "heading-id-twice", id=heading.id)
        seen.add(heading.id)
    pitfalls = page.section("pitfalls")
    if len(pitfalls) > limits.PITFALLS:
        line = pitfalls[limits.PITFALLS].line
        facts = {"count": len(pitfalls), "limit": limits.PITFALLS}
        yield page.problem(line, "pitfalls-too-many", **facts)
