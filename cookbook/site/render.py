"""From a page's source to what the site shows, in Markdown and in HTML."""

import html
import itertools
import re
from pathlib import Path

from cookbook.book import answer, symbols, wordings
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.markdown import read
from cookbook.book.pages import ALT, INCLUDE, MESSAGES, Block, Page, other_language
from cookbook.site import status

INCLUDED = re.compile(r'^```python\n--8<-- "(?P<path>[^"]+)\.py"\n```$', re.MULTILINE)
FILE = re.compile(r'^```python title="(?P<name>[^"]+)"$', re.MULTILINE)
QUOTED = re.compile(r"^```pytb$", re.MULTILINE)
ROW = re.compile(r"^\| *(`+).+?\1(?= *\|)", re.MULTILINE)  # of a table of messages
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
# A heading's id, or a line of attributes: plain Markdown knows neither.
ATTRIBUTES = re.compile(r"(?<=\S) \{ ?#[\w-]+ ?\}$|^\{ ?\.[^}]*\}$")
SYMBOLS = 5  # of the library's documentation, to which a page links
NAMES = 4  # other names for a task that its page gives
SHORT = {
    "en": re.compile(r"[A-Za-z][a-z]+(?: [A-Za-z]+){1,2}"),
    "zh": re.compile(r"[\u3400-\u9fff]{2,8}"),
}
TERMS = {"en": str.split, "zh": str}  # words; characters
# A file on a built page, from its name to the end of its code.
BUILT_FILE = re.compile(
    r'(?P<head><div class="language-python highlight"><span class="filename">)'
    r"(?P<name>[\w.]+)(?P<rest></span><pre><span></span><code>)(?P<code>.*?)"
    r"(?=</code>)",
    re.DOTALL,
)
BUILT_ANSWER = re.compile(
    r'(?P<head><div class="answer">.*?<code>)(?P<code>.*?)(?=</code>)', re.DOTALL
)
# What is to have the colour of the text: names, operators, brackets, spaces.
INERT = re.compile(r'<span class="(?:n\w?|bp|fm|o|ow|p|vm|w|x)">([^<]*)</span>')
LINE = '<a id="{id}" href="#{id}" tabindex="-1" aria-hidden="true"></a>'
WORDS = {
    "en": {
        "home": "Home",
        "indexes": "Indexes",
        "output": "Output",
        "picture": "> Picture: {alt}",
        "apis": "PyTorch documentation",
        "related": "Related recipes",
        "wrap": "Wrap long lines",
        "wordings": "In other releases",
        "message": "Message",
        "skip": "Not run: {reason}",
        "twin": "Chinese page",
        "also": "Also known as: {names}",
        "download": "Download the file",
        "yours": "Yours: {}",
        "kind": ", {}",
        "below": "from the file below",
        "behind": "This page has not been checked against the latest {twin} yet, "
        "and may be out of date.",
        "missing": "Nobody has written this page in English yet. The code is the "
        "same in both languages; the {twin} explains it.",
        "changes": " [What has changed there]({address})",
    },
    "zh": {
        "home": "首页",
        "indexes": "索引",
        "output": "输出",
        "picture": "> 图：{alt}",
        "apis": "PyTorch 官方文档",
        "related": "相关条目",
        "wrap": "长行自动换行",
        "wordings": "其他版本的报错文字",
        "message": "报错信息",
        "skip": "不会自动运行：{reason}",
        "twin": "英文页",
        "also": "又称：{names}",
        "download": "下载文件",
        "yours": "需自备：{}",
        "kind": "（{}）",
        "below": "见下方文件",
        "behind": "本页尚未对照最新的{twin}核对，内容可能已经过时。",
        "missing": "本条目还没有中文页。代码是两种语言共用的，说明请看{twin}。",
        "changes": "[查看英文页的改动]({address})",
    },
}


def site_markdown(catalogue: Catalogue, page: Page) -> str:
    """The page as the site renders it; snippets still to be included.

    Adds what is derived: title and sentence from the front matter, how the page
    stands to its twin, the name and recorded output of each snippet, what a mark
    means, the documentation of the symbols used, and related recipes.
    """
    recipe = catalogue.by_slug[page.slug]
    twin = recipe.pages[other_language(page.lang)]
    # In HTML, for MkDocs takes the other language's pages for dead links.
    link = '<a data-twin hreflang="{}" href="../../../{}">{}</a>'
    link = link.format(twin.lang, twin.url, WORDS[page.lang]["twin"])
    notice = _notice(catalogue, page, link)
    if page.lang in recipe.missing:  # pages may link to a heading of the twin
        notice += "".join(f'<span id="{h.id}"></span>' for h in twin.headings)
    lines = [notice, "{ .notice role=note }", ""] if notice else []
    text = _document(catalogue, page, lines, in_site=True)
    label = f"<label><input type=checkbox> {WORDS[page.lang]['wrap']}</label>"
    wrap = f'<div class="wrap">{label}</div>\n\n'
    text = FILE.sub(lambda match: wrap + match[0], text, count=1)
    return FILE.sub(lambda match: _with_answer_marked(recipe, match), text)


def _with_answer_marked(recipe: Recipe, match: re.Match) -> str:
    """The head of a file's block, which names the lines that the answer shows."""
    given = recipe.answer
    if not given.block or Path(given.block.path).name != match["name"]:
        return match[0]
    lines = [f"{part.first}-{part.last}" for part in given.parts]
    return f'{match[0]} hl_lines="{" ".join(lines)}"'


def _notice(catalogue: Catalogue, page: Page, link: str) -> str | None:
    """How the page stands to its twin; None where it is in line with it.

    ``link`` is that to the twin, as the format asks for it.
    """
    recipe, words = catalogue.by_slug[page.slug], WORDS[page.lang]
    if page.lang in recipe.missing:
        return words["missing"].format(twin=link)
    if page.lang not in recipe.behind:
        return None
    text = words["behind"].format(twin=link)
    if catalogue.repository:
        history = f"{catalogue.repository}/commits/HEAD/{page.twin_path.as_posix()}"
        text += words["changes"].format(address=history)
    return text


def _status(
    catalogue: Catalogue, recipe: Recipe, lang: str, in_site: bool
) -> list[str]:
    """The status line; on the site, all environments unfold below it."""
    line = status.line(catalogue, recipe, lang)
    table = status.table(catalogue, recipe, lang)
    if not in_site or not table:
        return [line, "{ .status }", ""]
    kind = {"✓": "passed", "✗": "failed"}.get(line[0], "unknown")
    head = f'<details class="status status--{kind}" id="verified" markdown>'
    head += f"<summary>{line}</summary>"
    return [head, "", *table, "</details>", ""]


def yours(recipe: Recipe, lang: str) -> str:
    """One line on the names that an answer takes for granted; empty without any."""
    words, names = WORDS[lang], []
    for name, kind in recipe.yours(lang).items():
        kind = words["below"] if kind == answer.BELOW else kind
        form = "{}" if not kind else " {}" if kind.startswith("(") else words["kind"]
        names.append(f"`{name}`{form.format(kind)}")
    return words["yours"].format(" · ".join(names)) if names else ""


def _answer(recipe: Recipe, lang: str, in_site: bool) -> list[str]:
    """The answer as a block of its own; the site wraps it, to style and copy it."""
    given, lines = recipe.answer, []
    if given.code:
        lines = [f"```{given.language}", *given.text.split("\n"), "```", ""]
    if lines and in_site:
        lines = ['<div class="answer" markdown>', "", *lines, "</div>", ""]
    if own := yours(recipe, lang):
        lines += [own, "{ .yours }", ""]
    if recipe.command:
        lines += ["```bash", *recipe.command.split("\n"), "```", ""]
    return lines


def _document(
    catalogue: Catalogue, page: Page, notice: list[str], in_site: bool
) -> str:
    recipe, words = catalogue.by_slug[page.slug], WORDS[page.lang]
    return "\n".join(
        [
            f"# {recipe.title(page.lang)} {{ #{page.slug} }}",
            "",
            *notice,
            f"{recipe.description(page.lang)}",
            "{ .lead }",
            "",
            *_status(catalogue, recipe, page.lang, in_site),
            _body(page, catalogue, in_site).lstrip("\n"),
            *_also(catalogue, page),
            *_documentation(catalogue, recipe, words["apis"]),
            *_related(catalogue, recipe, page, words["related"]),
        ]
    )


def _body(page: Page, catalogue: Catalogue, in_site: bool) -> str:
    """The answer, and what a person wrote: each mark explained, each snippet named.

    A page that begins with a table answers by it first: by the causes of an error, or
    by which one to take when.
    """
    lines = page.body.split("\n")
    for block in page.blocks:
        if block.mark:
            lines[block.line - 2] = _mark(page, block, catalogue)  # right above
    first, last = page.causes
    above, table, below = lines[: first - 1], lines[first - 1 : last], lines[last:]
    if table and in_site:
        table = ['<div class="causes" markdown>', "", *table, "", "</div>"]
    given = ["", *_answer(catalogue.by_slug[page.slug], page.lang, in_site)]
    text = "\n".join([*above, *table, *given, *below])
    return INCLUDED.sub(lambda match: _with_output(page, match, in_site), text)


def number_errors(markdown: str) -> str:
    """Give each quoted message an id, to which search leads: error-1, error-2, …"""
    number = itertools.count(1)

    def before(match: re.Match) -> str:
        return f'<span id="error-{next(number)}"></span>\n\n{match[0]}'

    def within(match: re.Match) -> str:
        return f"{match[0]}{{ #error-{next(number)} }}"

    return "".join(
        ROW.sub(within, section)
        if f"{{#{MESSAGES}}}" in section.partition("\n")[0]
        else QUOTED.sub(before, section)
        for section in SECTION.split(markdown)
    )


def other_wordings(page: Page) -> str:
    """A table of what other releases say; its ids follow those of the page's own."""
    found, words = wordings.of(page), WORDS[page.lang]
    if not found:
        return ""
    lines = ["", "", f"## {words['wordings']} {{ #wordings }}", ""]
    lines += [f"| {words['message']} | PyTorch |", "| --- | --- |"]
    for number, (text, releases) in enumerate(found.items(), len(page.errors) + 1):
        shown = text.replace("|", "\\|")
        anchor = f"{{ #error-{number} }}"
        lines.append(f"| `` {shown} ``{anchor} | {', '.join(releases)} |")
    return "\n".join([*lines, ""])


def full_markdown(catalogue: Catalogue, page: Page) -> str:
    """The page with its code in place, for readers of plain Markdown."""
    address = f"../../{page.twin_path.relative_to('docs').as_posix()}"
    notice = _notice(catalogue, page, f"[{WORDS[page.lang]['twin']}]({address})")
    lines = [f"> {notice}", ""] if notice else []
    text = _document(catalogue, page, lines, in_site=False)
    words = {number for number, _ in read(text).prose}
    lines = [""]
    for number, line in enumerate(text.split("\n"), start=1):
        if number not in words:
            lines.append(_included(catalogue.root, line))
        elif (plain := _plain(line)) or lines[-1]:
            lines.append(plain)
    return "\n".join(lines[1:])


def _plain(line: str) -> str:
    """A line of prose, for readers who have no site around it."""
    # Only recipes have a Markdown twin; the page of environments has none.
    return ATTRIBUTES.sub("", line).replace("](../verified.md)", "](../verified/)")


def _included(root: Path, line: str) -> str:
    """A line of code; for an include, the whole file but its last line break."""
    if not (include := INCLUDE.fullmatch(line)):
        return line
    return (root / "snippets" / include["path"]).read_text("utf-8").removesuffix("\n")


def _mark(page: Page, block: Block, catalogue: Catalogue) -> str:
    if block.mark == "skip":
        text = WORDS[page.lang]["skip"].format(reason=block.reason)
    else:
        text = status.mark(catalogue, block, page.lang)
    return f"{text}\n{{ .mark .mark--{block.mark} }}\n"


def _with_output(page: Page, match: re.Match, in_site: bool) -> str:
    path = match["path"]
    name = path.rpartition("/")[2]
    parts = [match[0].replace("```python", f'```python title="{name}.py"')]
    if (page.root / "snippets" / f"{path}.out").exists():
        title = WORDS[page.lang]["output"]
        parts.append(f'```text title="{title}"\n--8<-- "{path}.out"\n```')
    if name in page.pictures:
        parts.append(_picture(page, name, in_site))
    return "\n\n".join(parts)


def _picture(page: Page, name: str, in_site: bool) -> str:
    """A picture in the page itself, so that it takes on its colours; or its words."""
    alt = page.meta.get(ALT, {}).get(name, "")
    if not in_site:
        return WORDS[page.lang]["picture"].format(alt=alt)
    alt, svg = html.escape(alt), (page.root / page.pictures[name]).read_text("utf-8")
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1)
    caption = f'<figcaption aria-hidden="true">{alt}</figcaption>'
    return f'<figure class="picture">{svg}{caption}</figure>'


def _also(catalogue: Catalogue, page: Page) -> list[str]:
    """A few names that a reader may know the task by, in words that the pages use."""
    parts = TERMS[page.lang]
    known = set(parts(page.meta["title"].casefold()))
    names: list[str] = []
    for alias in page.meta.get("aliases", []):
        terms = set(parts(alias.casefold()))
        is_name = SHORT[page.lang].fullmatch(alias) and terms <= catalogue.terms
        if is_name and terms - known and len(names) < NAMES:
            names.append(alias)
            known |= terms
    if not names:
        return []
    return ["", WORDS[page.lang]["also"].format(names=" · ".join(names)), "{ .also }"]


def uncoloured(html: str) -> str:
    """Code without the spans that colour nothing: most of its elements."""
    return INERT.sub(r"\1", html)


def imports_apart(html: str, recipe: Recipe) -> str:
    """The page with the imports of its answer in an element of their own."""
    count = recipe.answer.imports.count("\n") + 2  # and the empty line below them

    def wrapped(match: re.Match) -> str:
        lines = match["code"].splitlines(True)
        imports, rest = "".join(lines[:count]), "".join(lines[count:])
        return f'{match["head"]}<span class="imports">{imports}</span>{rest}'

    return BUILT_ANSWER.sub(wrapped, html) if recipe.answer.imports else html


def number_lines(html: str, recipe: Recipe, lang: str) -> str:
    """The page with a link to each line of its files, and one to download each.

    Lines are #line-1 and so on; those of a second file #line-2-1. What they show is
    not part of the code: Copy leaves it out.
    """
    paths = {Path(block.path).name: block.path for block in recipe.snippets}
    count = itertools.count(1)

    def numbered(match: re.Match) -> str:
        file, name = next(count), match["name"]
        prefix = "line" if file == 1 else f"line-{file}"
        lines = "".join(
            LINE.format(id=f"{prefix}-{number}") + line
            for number, line in enumerate(match["code"].splitlines(True), start=1)
        )
        title = WORDS[lang]["download"]
        link = f'<a download href="../../../{paths[name]}" title="{title}">{name}</a>'
        return f"{match['head']}{link}{match['rest']}{lines}"

    return BUILT_FILE.sub(numbered, html)


def _documentation(catalogue: Catalogue, recipe: Recipe, heading: str) -> list[str]:
    """Links to the symbols that the recipe is about: those few others use."""
    if not recipe.apis:
        return []
    rarest = sorted(recipe.main_apis, key=catalogue.api_uses.__getitem__)
    names = sorted(rarest[:SYMBOLS])
    links = [f"[`{name}`]({symbols.documentation(name)})" for name in names]
    return ["", f"## {heading} {{ #apis }}", "", " ".join(links), "{ .apis }"]


def _related(
    catalogue: Catalogue, recipe: Recipe, page: Page, heading: str
) -> list[str]:
    slugs = recipe.facts.get("related", [])
    related = [catalogue.by_slug[slug] for slug in slugs if slug in catalogue.by_slug]
    if not related:
        return []
    items = [
        f"- [{other.title(page.lang)}](../{other.category}/{other.slug}.md)"
        for other in related
    ]
    return ["", f"## {heading} {{ #related }}", "", *items, ""]
