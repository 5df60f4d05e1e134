"""From a page's source to what the site shows, in Markdown and in HTML."""

import re
from html.parser import HTMLParser

from cookbook import apis, status
from cookbook.catalogue import Catalogue, Recipe
from cookbook.pages import MARK, Page, snippet_preprocessor

INCLUDED = re.compile(r'^```python\n--8<-- "(?P<path>[^"]+)\.py"\n```$', re.MULTILINE)
WORDS = {
    "en": {
        "home": "All recipes",
        "indexes": "Indexes",
        "output": "Output",
        "apis": "PyTorch documentation",
        "related": "Related recipes",
        "gpu": "Needs a GPU: run by `make test-gpu`.",
        "skip": "Not run: {reason}",
    },
    "zh": {
        "home": "全部条目",
        "indexes": "索引",
        "output": "输出",
        "apis": "PyTorch 官方文档",
        "related": "相关条目",
        "gpu": "需要 GPU：由 `make test-gpu` 运行。",
        "skip": "不会自动运行：{reason}",
    },
}


def site_markdown(catalogue: Catalogue, page: Page) -> str:
    """The page as the site renders it; snippets still to be included.

    Adds what is derived: title and sentence from the front matter, the name
    and recorded output of each snippet, what a mark means, the documentation
    of the symbols used, and related recipes.
    """
    recipe, words = catalogue.by_slug[page.slug], WORDS[page.lang]
    body = page.body.lstrip("\n")
    body = MARK.sub(lambda match: _notice(page, match["mark"]), body)
    body = INCLUDED.sub(lambda match: _with_output(catalogue, match, words), body)
    return "\n".join(
        [
            f"# {recipe.title(page.lang)} {{ #{page.slug} }}",
            "",
            f"{recipe.description(page.lang)}",
            "{ .lead }",
            "",
            status.line(catalogue, recipe, page.lang),
            "{ .status }",
            "",
            body,
            *status.table(catalogue, recipe, page.lang),
            *_documentation(recipe, words["apis"]),
            *_related(catalogue, recipe, page, words["related"]),
        ]
    )


def full_markdown(catalogue: Catalogue, page: Page) -> str:
    """The page with its code in place, for readers of plain Markdown."""
    text = site_markdown(catalogue, page)
    # Before the code is in place, which must stay as it is.
    plain = re.sub(r" ?\{ ?[#.][^}]*\}", "", text)
    plain = re.sub(r"\n{3,}", "\n\n", plain)
    # Only recipes have a Markdown twin; the page of environments has none.
    plain = plain.replace("](../verified.md)", "](../verified/)")
    lines = snippet_preprocessor(catalogue.root).run(plain.split("\n"))
    return "\n".join(lines)


def _notice(page: Page, mark: str) -> str:
    block = next(b for b in page.blocks if b.mark and b.mark in mark)
    text = WORDS[page.lang][block.mark].format(reason=block.reason)
    return f"{text}\n{{ .mark .mark--{block.mark} }}\n"


def _with_output(catalogue: Catalogue, match: re.Match, words: dict) -> str:
    path = match["path"]
    name = path.rpartition("/")[2]
    block = match[0].replace("```python", f'```python title="{name}.py"')
    if not (catalogue.root / "snippets" / f"{path}.out").exists():
        return block
    title = words["output"]
    return f'{block}\n\n```text title="{title}"\n--8<-- "{path}.out"\n```'


def _documentation(recipe: Recipe, heading: str) -> list[str]:
    if not recipe.apis:
        return []
    links = [f"[`{name}`]({apis.documentation(name)})" for name in recipe.apis]
    return ["", f"## {heading} {{ #apis }}", "", " ".join(links), "{ .apis }"]


def _related(
    catalogue: Catalogue, recipe: Recipe, page: Page, heading: str
) -> list[str]:
    related = [catalogue.by_slug[slug] for slug in recipe.facts.get("related", [])]
    if not related:
        return []
    items = [
        f"- [{other.title(page.lang)}](../{other.category}/{other.slug}.md)"
        for other in related
    ]
    return ["", f"## {heading} {{ #related }}", "", *items, ""]


class CodeBlocks(HTMLParser):
    """Collect (language, text) of every code block of an HTML page."""

    def __init__(self):
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._language = ""
        self._depth = 0  # of <pre>

    @classmethod
    def read(cls, html: str) -> list[tuple[str, str]]:
        parser = cls()
        parser.feed(html)
        return parser.found

    def handle_starttag(self, tag: str, attrs: list) -> None:
        classes = dict(attrs).get("class") or ""
        language = re.search(r"(?:^| )language-(\S+)", classes)
        if language and not self._depth:
            self._language = language[1]
        if tag == "pre":
            self._depth += 1
            self.found.append((self._language, ""))
            self._language = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._depth -= 1

    def handle_data(self, data: str) -> None:
        if self._depth:
            language, text = self.found[-1]
            self.found[-1] = (language, text + data)
