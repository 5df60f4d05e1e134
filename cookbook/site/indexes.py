"""The pages of lists: symbols and messages, to recipes; what was run; the rules."""

import json
import re
from collections.abc import Iterable, Iterator

from cookbook.book import symbols, wordings
from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.records import Record
from cookbook.rules import GROUPS, RULES, WARNING, Rule
from cookbook.site import status

FIRST_AID = "errors"  # the category of what goes wrong
# What a script filters as one types; hidden where there are no scripts.
FILTER = (
    '<p class="filter"><input type="search" data-filter aria-label="{words}" '
    'placeholder="{words}"> <output></output></p>'
)
WORDS = {
    "en": {
        "apis": "API index",
        "apis_lead": "Every library symbol that a recipe's code uses, by module.",
        "errors": "Error index",
        "errors_lead": "Every error message that a recipe explains, by topic.",
        "recipes": "All recipes",
        "filter": "Filter this page",
        "runs": "Where the recipes were run",
        "runs_lead": "One table row per environment; each is the record of a run, and "
        "a tick on a page counts only for the exact text that passed.",
        "runs_columns": ("Environment", "Date", "Blocks", "Failed"),
        "of": "{} of {}",
        "failures": "Failures",
        "none": "Nothing fails in any environment.",
        "rules": "Rules",
        "rules_lead": "What `python -m cookbook check` says about a contribution, by "
        "code, and what to write instead. A warning is listed and fails nothing.",
        "rules_columns": ("Code", "What is wrong", "What to write instead"),
        "warning": " (warning)",
    },
    "zh": {
        "apis": "API 索引",
        "apis_lead": "各条目代码中用到的全部库函数与类，按模块排列。",
        "errors": "报错索引",
        "errors_lead": "各条目解释过的全部报错信息，按主题排列。",
        "recipes": "全部条目",
        "filter": "筛选本页",
        "runs": "在哪些环境运行过",
        "runs_lead": "每行对应一个环境的一次运行记录；"
        "页面上的对勾只对运行通过的那份代码有效，代码改动后自动失效。",
        "runs_columns": ("环境", "日期", "代码块", "失败"),
        "of": "{} / {}",
        "failures": "失败的条目",
        "none": "所有环境均无失败。",
        "rules": "检查规则",
        "rules_lead": "`python -m cookbook check` 对贡献的内容会报告什么、应当怎么改，"
        "按代码排列。警告只会列出，不算失败。",
        "rules_columns": ("代码", "问题", "改法"),
        "warning": "（警告）",
    },
}


def api_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the API index: a heading per module, a row per symbol."""
    users: dict[str, list[Recipe]] = {}
    for recipe in catalogue.recipes:
        for name in recipe.apis:
            users.setdefault(name, []).append(recipe)
    lines = [*_titled("apis", lang, "apis-index"), *_filter(lang)]
    module = None
    for name in sorted(users, key=lambda name: (symbols.module(name), name)):
        if symbols.module(name) != module:
            module = symbols.module(name)
            lines += ["", f"## {module} {{ #{module.replace('.', '-').lower()} }}", ""]
        links = ", ".join(_link(recipe, lang) for recipe in users[name])
        lines.append(f"- [`{name}`]({symbols.documentation(name)}): {links}")
    return "\n".join([*lines, ""])


def error_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the error index: a heading per topic, a row per message."""
    topics: dict[str, dict[str, list[str]]] = {}
    homes: dict[str, str] = {}  # message → the topic where it was met first
    for topic, recipe in _by_topic(catalogue, lang):
        for message, link in _messages(recipe, lang):
            home = homes.setdefault(message, topic)
            links = topics.setdefault(home, {}).setdefault(message, [])
            if not any(link.partition("](")[0] in other for other in links):
                links.append(link)
    lines = [*_titled("errors", lang, "errors-index"), *_filter(lang)]
    for number, (topic, messages) in enumerate(topics.items(), start=1):
        lines += ["", f"## {topic} {{ #topic-{number} }}", ""]
        lines += [f"- {_code(text)} {', '.join(messages[text])}" for text in messages]
    return "\n".join([*lines, ""])


def _by_topic(catalogue: Catalogue, lang: str) -> Iterator[tuple[str, Recipe]]:
    """Each recipe with its topic: first aid by its groups, then what else there is."""
    for category in sorted(catalogue.categories, key=lambda one: one.slug != FIRST_AID):
        for title, recipes in catalogue.grouped(category):
            shown = title if category.slug == FIRST_AID else category.title
            for recipe in recipes:
                yield shown.get(lang, category.title[lang]), recipe


def _messages(recipe: Recipe, lang: str) -> Iterator[tuple[str, str]]:
    """A recipe's messages, each on one line, with a link to where it is quoted."""
    page, found = recipe.page_for(lang), []
    for error in page.errors:
        first, *more = error.split("\n")
        if first.endswith(":") and more:  # what went wrong stands on the next line
            first = f"{first} {more[0].strip()}"
        found.append((first.strip(), ""))
    for text, releases in wordings.of(page).items():
        found.append((text, f" (PyTorch {', '.join(releases)})"))
    for number, (text, note) in enumerate(found, start=1):
        anchor = f"#error-{number}" if page.lang == lang else ""
        yield text, f"{_link(recipe, lang, anchor)}{note}"


def rules_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the rules: a table per group, a row per rule."""
    lines = _titled("rules", lang, "rules-index")
    for group, title in GROUPS.items():
        lines += ["", f"## {title[lang]} {{ #{group.lower()} }}", ""]
        lines += [_row(WORDS[lang]["rules_columns"]), "| --- | --- | --- |"]
        rules = (rule for rule in RULES.values() if rule.code.startswith(group))
        lines += [_rule_row(rule, lang) for rule in rules]
    return "\n".join([*lines, ""])


def _rule_row(rule: Rule, lang: str) -> str:
    code = f"[{rule.code}](#{rule.code.lower()}){{ #{rule.code.lower()} }}"
    severity = WORDS[lang]["warning"] if rule.severity == WARNING else ""
    texts = [_literal(text) for text in rule.texts(lang, _Names())]
    return _row([f"{code} `{rule.name}`{severity}", *texts])


class _Names(dict):
    """Stands for the facts of no particular problem."""

    def __missing__(self, key: str) -> str:
        return f"‹{key}›"


def _literal(text: str) -> str:
    """Text in which Markdown finds nothing to interpret."""
    line = " ".join(text.split())
    return re.sub(r"[^\w\s.,:;()/‹›]|_", lambda match: f"&#{ord(match[0])};", line)


def environments_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the page that lists every environment and its failures."""
    words = WORDS[lang]
    failures = [
        f"- {_link(recipe, lang)}: "
        f"torch {one.record.torch}, {one.record.environment['device']}"
        for recipe in catalogue.recipes
        for one in status.outcomes(catalogue, recipe)
        if one.status == "failed"
    ]
    lines = [*_titled("runs", lang, "verified-runs"), "", _row(words["runs_columns"])]
    lines.append("| --- | --- | --: | --: |")
    lines += [
        _environment_row(catalogue, record, words) for record in catalogue.records
    ]
    lines += ["", f"## {words['failures']} {{ #failures }}", ""]
    return "\n".join([*lines, *(failures or [words["none"]]), ""])


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
    return [front(title), f"# {title} {{ #{anchor} }}", "", lead, "{ .lead }"]


def front(title: str, **more) -> str:
    """The front matter of a page that the site makes."""
    matter = json.dumps({"title": title, **more}, ensure_ascii=False)  # JSON is YAML
    return f"---\n{matter}\n---\n"


def _filter(lang: str) -> list[str]:
    """A box to filter the page's lists."""
    return ["", FILTER.format(words=WORDS[lang]["filter"])]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _link(recipe: Recipe, lang: str, anchor: str = "") -> str:
    return f"[{recipe.title(lang)}]({recipe.category}/{recipe.slug}.md{anchor})"


def _code(text: str) -> str:
    """Inline code, whatever backticks the message itself contains."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
