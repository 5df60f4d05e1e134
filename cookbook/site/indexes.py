"""The pages of lists: symbols and messages, to recipes; what was run."""

from collections.abc import Iterable, Iterator

from cookbook.book import symbols, wordings
from cookbook.book.catalogue import Catalogue, Category, Recipe
from cookbook.book.records import Record
from cookbook.site import status
from cookbook.site.words import WORDS

FIRST_AID = "errors"  # the category of what goes wrong
FEW = 5  # recipes of a symbol, or messages of a recipe, that are shown at once
# What a script filters as one types; hidden where there are no scripts.
FILTER = (
    '<p class="filter"><input type="search" data-filter aria-label="{filter}" '
    'placeholder="{filter}"> <output></output> <a hidden>{filter_none}</a></p>'
)

# Unfolds the messages after the first few.
MORE = ' <label class="more"><input type="checkbox"> {}</label>'


def api_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the API index: a heading per module, a row per symbol.

    Of many recipes, those whose answer uses the symbol are named; the rest are a link.
    """
    users: dict[str, list[Recipe]] = {}
    for recipe in catalogue.recipes:
        for name in recipe.apis:
            users.setdefault(name, []).append(recipe)
    lines = [*_titled("api_index", lang, "apis-index"), *_filter(lang)]
    module = None
    for name in sorted(users, key=lambda name: (symbols.module(name), name)):
        if symbols.module(name) != module:
            module = symbols.module(name)
            lines += ["", f"## {module} {{ #{module.replace('.', '-').lower()} }}", ""]
        links = ", ".join(_users(name, users[name], lang))
        lines.append(f"- [`{name}`]({symbols.documentation(name)}): {links}")
    return "\n".join([*lines, ""])


def _users(name: str, users: list[Recipe], lang: str) -> Iterator[str]:
    """Links to the recipes that use a symbol."""
    shown = users
    if len(users) > FEW:
        shown = [one for one in users if name in one.main_apis][:FEW] or users[:FEW]
    for recipe in shown:
        yield _link(recipe, lang)
    if len(users) > len(shown):
        all_of_them = WORDS[lang]["all"].format(len(users))
        yield f"[{all_of_them}](recipes.md?text={name})"


def error_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the error index: topics, their recipes, the messages of each.

    A message that several pages quote stands where it is met first: first aid leads.
    """
    topics: dict[str, list[str]] = {}
    known: set[str] = set()
    for topic, recipe in _by_topic(catalogue, lang):
        found = dict(_messages(recipe, lang))
        new = [f"    - {found[text]}" for text in found if text not in known]
        known |= found.keys()
        if new:
            head = f"- {_link(recipe, lang)}"
            if len(new) > FEW:
                head += MORE.format(WORDS[lang]["more"].format(len(new) - FEW))
            topics.setdefault(topic, []).extend([head, *new])
    lines = [*_titled("error_index", lang, "errors-index"), *_filter(lang)]
    for number, (topic, rows) in enumerate(topics.items(), start=1):
        lines += ["", f"## {topic} {{ #topic-{number} }}", "", *rows]
    return "\n".join([*lines, ""])


def _by_topic(catalogue: Catalogue, lang: str) -> Iterator[tuple[str, Recipe]]:
    """Each recipe with its topic: first aid by its groups, then what else there is."""
    for category in first_aid_first(catalogue.categories):
        for title, recipes in catalogue.grouped(category):
            shown = title if category.slug == FIRST_AID else category.title
            for recipe in recipes:
                yield shown.get(lang, category.title[lang]), recipe


def first_aid_first(categories: list[Category]) -> list[Category]:
    """The categories as somebody in need looks for them."""
    return sorted(categories, key=lambda category: category.slug != FIRST_AID)


def _messages(recipe: Recipe, lang: str) -> Iterator[tuple[str, str]]:
    """A recipe's messages, each on one line, and as a link to where it is quoted."""
    page, found = recipe.page_for(lang), []
    for error in page.errors:
        first, *more = error.split("\n")
        if first.endswith(":") and more:  # what went wrong stands on the next line
            first = f"{first} {more.pop(0).strip()}"
        first = f"{first.strip()} …" if more else first
        found.append((first.strip(), ""))
    for text, releases in wordings.of(page).items():
        found.append((text, f" (PyTorch {', '.join(releases)})"))
    for number, (text, note) in enumerate(found, start=1):
        anchor = f"#error-{number}" if page.lang == lang else ""
        address = f"{recipe.category}/{recipe.slug}.md{anchor}"
        yield text, f"[{_code(text)}]({address}){note}"


def environments_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the page that lists every environment and its failures."""
    words = WORDS[lang]
    lines = [*_titled("runs", lang, "verified-runs"), "", _row(words["runs_columns"])]
    lines.append("| --- | --- | --: | --: |")
    lines += [
        _environment_row(catalogue, record, words) for record in catalogue.records
    ]
    lines += ["", f"## {words['failures']} {{ #failures }}", ""]
    legend = words["legend"].partition("[")[0]  # the link leads here
    lines += [*_failures(catalogue, lang), "", legend, ""]
    lines += [f"## {words['gains']} {{ #gains }}", "", words["how_gains"], ""]
    return "\n".join(lines)


def _failures(catalogue: Catalogue, lang: str) -> list[str]:
    """A row for each recipe that fails or warns somewhere, a column per environment."""
    rows = []
    for recipe in catalogue.recipes:
        found = {one.record.name: one for one in status.outcomes(catalogue, recipe)}
        causes = [one for one in found.values() if one.status in ("failed", "warned")]
        if causes:
            signs = (found.get(record.name) for record in catalogue.records)
            signs = (status.SIGNS[one and one.status] for one in signs)
            texts = dict.fromkeys(one.cause.replace("|", "\\|") for one in causes)
            cell = "<br>".join([_link(recipe, lang), *map(_code, filter(None, texts))])
            rows.append(_row([cell, *signs]))
    if not rows:
        return [WORDS[lang]["no_failures"]]
    columns = (_column(record, catalogue) for record in catalogue.records)
    head = _row([WORDS[lang]["recipes"], *columns])
    return [head, _row(["---"] * (len(catalogue.records) + 1)), *rows]


def _column(record: Record, catalogue: Catalogue) -> str:
    """An environment in a few letters: 2.15, 2.15 H100; 2.15 py3.12 beside another."""
    major, minor = record.minor
    same = [one for one in catalogue.records if one.minor == record.minor]
    python = record.environment["python"].rpartition(".")[0]
    device = "" if record.kind == "cpu" else record.environment["device"].split()[-1]
    others = {one.environment["python"].rpartition(".")[0] for one in same}
    name = f"py{python}" if len(others) > 1 else ""
    return " ".join(filter(None, [f"{major}.{minor}", name, device]))


def _environment_row(catalogue: Catalogue, record: Record, words: dict) -> str:
    """How many of the present blocks were run there, of those that can be."""
    environment = record.environment
    marks = (None, "gpu") if record.kind == "gpu" else (None,)
    blocks = {b.path: b for r in catalogue.recipes for b in r.blocks if b.mark in marks}
    run = [block for block in blocks.values() if record.run_of(block)]
    where = f"torch {record.torch}, {environment['device']}, "
    where += f"Python {environment['python']}, {environment['platform']}"
    date, counts = (
        f"<time>{record.date}</time>",
        words["of"].format(len(run), len(blocks)),
    )
    failed = sum(record.run_of(block)["status"] == "failed" for block in run)
    return _row([where, date, counts, str(failed)])


def _titled(key: str, lang: str, anchor: str) -> list[str]:
    """The beginning of a list's page."""
    title, lead = WORDS[lang][key], WORDS[lang][f"{key}_lead"]
    return [f"# {title} {{ #{anchor} }}", "", lead, "{ .lead }"]


def _filter(lang: str) -> list[str]:
    """A box to filter the page's lists."""
    return ["", FILTER.format_map(WORDS[lang])]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _link(recipe: Recipe, lang: str) -> str:
    return f"[{recipe.title(lang)}]({recipe.category}/{recipe.slug}.md)"


def _code(text: str) -> str:
    """Inline code, whatever backticks the message itself contains."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
