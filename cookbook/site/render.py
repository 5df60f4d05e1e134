"""A recipe's page in Markdown: what a person wrote, completed by what is derived."""

import html
import itertools
import re
from dataclasses import dataclass

from cookbook.book import answer, symbols, wordings
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.gains import Gain
from cookbook.book.pages import ALT, INCLUDE, MESSAGES, Block, Page, other_language
from cookbook.site import status
from cookbook.site.words import WORDS

INCLUDED = re.compile(r'^```python\n--8<-- "(?P<path>[^"]+)\.py"\n```$', re.MULTILINE)
QUOTED = re.compile(r"^```pytb$", re.MULTILINE)
ROW = re.compile(r"^\| *(`+).+?\1(?= *\|)", re.MULTILINE)  # of a table of messages
SECTION = re.compile(r"^(?=## )", re.MULTILINE)
# A heading's id, or a line of attributes: plain Markdown knows neither.
ATTRIBUTES = re.compile(r"(?<=\S) \{ ?#[\w-]+ ?\}$|^\{ ?\.[^}]*\}$")
SYMBOLS = 5  # of the library's documentation, to which a page links


def site_markdown(catalogue: Catalogue, page: Page) -> str:
    """The page as the site renders it."""
    return Writer(catalogue, page).text()


def full_markdown(catalogue: Catalogue, page: Page) -> str:
    """The page for readers of plain Markdown, who have no site around it."""
    return Writer(catalogue, page, plain=True).text()


@dataclass(frozen=True)
class Writer:
    """Writes one page, code in place; if ``plain``, without HTML and attributes."""

    catalogue: Catalogue
    page: Page
    plain: bool = False

    @property
    def recipe(self) -> Recipe:
        return self.catalogue.by_slug[self.page.slug]

    @property
    def words(self) -> dict:
        return WORDS[self.page.lang]

    def text(self) -> str:
        """All of it: a part that has nothing to say is left out."""
        style = "" if self.plain else hue(self.catalogue, self.page.category)
        title = f"# {self.recipe.title(self.page.lang)} {{ #{self.page.slug}{style} }}"
        lead = f"{self.recipe.description(self.page.lang)}\n{{ .lead }}"
        parts = [title, self._notice(), lead, self._status(), self._body()]
        parts += [self._documentation(), self._related()]
        text = "\n\n".join(filter(None, parts))
        if not self.plain:
            text = number_errors(text) + other_wordings(self.page)
        return self._with_code(f"{text}\n")

    def _with_code(self, text: str) -> str:
        """The text with each file in place of its include; if plain, without gaps."""
        lines, in_code = [""], False
        for line in text.split("\n"):
            in_code ^= line.startswith("```")
            if include := INCLUDE.fullmatch(line):
                file = self.page.root / "snippets" / include["path"]
                line = file.read_text("utf-8").removesuffix("\n")
            if self.plain and not in_code:
                line = plain(line)
            if line or lines[-1] or in_code or not self.plain:
                lines.append(line)
        return "\n".join(lines[1:])

    def _notice(self) -> str:
        """How the page stands to its twin; empty where it is in line with it."""
        recipe, lang, words = self.recipe, self.page.lang, self.words
        twin = recipe.pages[other_language(lang)]
        if self.plain:
            address = f"../../{self.page.twin_path.relative_to('docs').as_posix()}"
            link = f"[{words['twin']}]({address})"
        else:  # in HTML, for MkDocs takes the other language's pages for dead links
            link = f'<a data-twin hreflang="{twin.lang}" href="../../../{twin.url}">'
            link += f"{words['twin']}</a>"
        if lang in recipe.missing:
            text = words["missing"].format(twin=link)
        elif lang in recipe.behind:
            text = words["behind"].format(twin=link)
            if repository := self.catalogue.repository:
                path = self.page.twin_path.as_posix()
                address = f"{repository}/commits/HEAD/{path}"
                text += words["changes"].format(address=address)
        else:
            return ""
        if self.plain:
            return f"> {text}"
        if lang in recipe.missing:  # pages may link to a heading of the twin
            text += "".join(f'<span id="{h.id}"></span>' for h in twin.headings)
        return f"{text}\n{{ .notice role=note }}"

    def _status(self) -> str:
        """The status line; on the site, all environments unfold below it."""
        line = status.line(self.catalogue, self.recipe, self.page.lang)
        table = status.table(self.catalogue, self.recipe, self.page.lang)
        if self.plain or not table:
            return f"{line}\n{{ .status }}"
        kind = {"✓": "passed", "✗": "failed"}.get(line[0], "unknown")
        head = f'<details class="status status--{kind}" id="verified" markdown>'
        head += f"<summary>{line}</summary>"
        return "\n".join([head, "", *table, "</details>"])

    def _body(self) -> str:
        """The answer, and what a person wrote: each mark explained, each file named.

        A page that begins with a table answers by it first: by the causes of an error,
        or by which one to take when.
        """
        lines = self.page.body.split("\n")
        for block in self.page.blocks:
            if block.mark:
                lines[block.line - 2] = self._mark(block)  # right above
        first, last = self.page.causes
        table = lines[first - 1 : last]
        if table and not self.plain:
            table = ['<div class="causes" markdown>', "", *table, "", "</div>"]
        parts = [*lines[: first - 1], *table, "", self._answer(), "", *lines[last:]]
        return INCLUDED.sub(self._file, "\n".join(parts).strip("\n"))

    def _answer(self) -> str:
        """The answer as a block of its own; the site wraps it, to style and copy it."""
        given, parts = self.recipe.answer, []
        if given.code:
            parts.append(f"```{given.language}\n{given.text}\n```")
            if not self.plain:
                parts = ['<div class="answer" markdown>', *parts, "</div>"]
        if own := yours(self.recipe, self.page.lang):
            parts.append(f"{own}\n{{ .yours }}")
        if self.recipe.command:
            parts.append(f"```bash\n{self.recipe.command}\n```")
        if measured := self.catalogue.gains.get(self.recipe.slug):
            lines = [f"- {gain_line(one, self.page.lang)}" for one in measured]
            parts.append("\n".join([f"{self.words['gain']}\n", *lines]))
        return "\n\n".join(parts)

    def _mark(self, block: Block) -> str:
        if block.mark == "skip":
            text = self.words["skip"].format(reason=block.reason)
        else:
            text = status.mark(self.catalogue, block, self.page.lang)
        return f"{text}\n{{ .mark .mark--{block.mark} }}\n"

    def _file(self, match: re.Match) -> str:
        """A file's block with its name, what it prints and what it draws."""
        path, given = match["path"], self.recipe.answer
        name = path.rpartition("/")[2]
        head, before = f'```python title="{name}.py"', ""
        is_first = f"snippets/{path}.py" == self.recipe.snippets[0].path
        if not self.plain:
            if given.block and given.block.path == f"snippets/{path}.py":
                marked = " ".join(f"{part.first}-{part.last}" for part in given.parts)
                head += f' hl_lines="{marked}"'
            if is_first:
                label = f"<label><input type=checkbox> {self.words['wrap']}</label>"
                before = f'<div class="wrap">{self._jumps()}{label}</div>\n\n'
        parts = [before + match[0].replace("```python", head)]
        if (self.page.root / "snippets" / f"{path}.out").exists():
            title = self.words["output"]
            parts.append(f'```text title="{title}"\n--8<-- "{path}.out"\n```')
        if name in self.page.pictures:
            parts.append(self._picture(name))
            if not is_first and not self.plain:  # one looks, and need not read
                head = f'<details class="drawing" markdown><summary>{name}.py</summary>'
                parts = [parts.pop(), head, *parts, "</details>"]
        return "\n\n".join(parts)

    def _jumps(self) -> str:
        """Links to the page's sections, for phones, which show no list of them."""
        heads = (head for head in self.page.headings if head.level == 2)
        return "".join(
            f'<a href="#{h.id}">{html.escape(h.text.replace("`", ""))}</a>'
            for h in heads
        )

    def _picture(self, name: str) -> str:
        """A picture in the page, so that it takes on its colours; or its words."""
        alt = self.page.meta.get(ALT, {}).get(name, "")
        if self.plain:
            return self.words["picture"].format(alt=alt)
        alt = html.escape(alt)
        svg = (self.page.root / self.page.pictures[name]).read_text("utf-8")
        svg = svg.replace("<svg ", f'<svg role="img" aria-label="{alt}" ', 1)
        caption = f'<figcaption aria-hidden="true">{alt}</figcaption>'
        return f'<figure class="picture">{svg}{caption}</figure>'

    def _documentation(self) -> str:
        """Links to the symbols that the recipe is about: those few others use."""
        rarest = sorted(self.recipe.main_apis, key=self.catalogue.api_uses.get)
        names = sorted(rarest[:SYMBOLS])
        links = [f"[`{name}`]({symbols.documentation(name)})" for name in names]
        head = f"## {self.words['apis']} {{ #apis }}\n\n"
        return f"{head}{' '.join(links)}\n{{ .apis }}" if names else ""

    def _related(self) -> str:
        known = self.catalogue.by_slug
        items = [
            f"- {self.words[f'related_{kind}'] if kind else ''}"
            f"[{known[slug].title(self.page.lang)}](../{known[slug].address}.md)"
            for kind, slug in self.recipe.related
            if slug in known
        ]
        head = f"## {self.words['related']} {{ #related }}"
        return "\n".join([head, "", *items]) if items else ""


def hue(catalogue: Catalogue, slug: str) -> str:
    """A category's own colour: as far from the next as there are categories."""
    slugs = [category.slug for category in catalogue.categories]
    return f' style="--hue: {360 * slugs.index(slug) // len(slugs)}"'


def plain(line: str) -> str:
    """A line of prose without attributes."""
    # Only recipes have a Markdown twin; the page of environments has none.
    return ATTRIBUTES.sub("", line).replace("](../verified.md", "](../verified/")


def gain_line(one: Gain, lang: str) -> str:
    """What was measured, the ratios, and where."""
    words, ratios = WORDS[lang], []
    if one.speed:
        ratios.append(words["faster"].format(ratio=f"{one.speed:g}"))
    if one.memory:
        ratios.append(words["smaller"].format(percent=f"{100 / one.memory:.0f}"))
    what = one.words[lang]
    return words["measured"].format(
        what=what[0].upper() + what[1:],
        ratios=words["and"].join(ratios),
        where=one.where,
    )


def yours(recipe: Recipe, lang: str) -> str:
    """One line on the names that an answer takes for granted; empty without any."""
    words, names = WORDS[lang], []
    for name, kind in recipe.yours(lang).items():
        if kind == answer.BELOW:
            kind = words["below"]
        kind = kind or words.get(f"kind_of_{name}", "")
        form = "" if not kind else " {kind}" if kind.startswith("(") else words["kind"]
        names.append(f"`{name}`{form.format(kind=kind)}")
    return words["yours"].format(names=" · ".join(names)) if names else ""


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
