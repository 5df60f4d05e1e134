"""The index pages: symbols and error messages, to recipes; the rules of the checks."""

import re
from collections.abc import Iterator

from cookbook import apis, wordings
from cookbook.catalogue import Catalogue, Recipe
from cookbook.rules import GROUPS, RULES, WARNING, Rule

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
        "filter": "Filter this page",
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
        "filter": "筛选本页",
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
    lines = _head(WORDS[lang]["apis"], WORDS[lang]["apis_lead"], "apis", lang)
    module = None
    for name in sorted(users, key=lambda name: (apis.module(name), name)):
        if apis.module(name) != module:
            module = apis.module(name)
            lines += ["", f"## {module} {{ #{module.replace('.', '-').lower()} }}", ""]
        links = ", ".join(_link(recipe, lang) for recipe in users[name])
        lines.append(f"- [`{name}`]({apis.documentation(name)}): {links}")
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
    lines = _head(WORDS[lang]["errors"], WORDS[lang]["errors_lead"], "errors", lang)
    for number, (topic, messages) in enumerate(topics.items(), start=1):
        lines += ["", f"## {topic} {{ #topic-{number} }}", ""]
        lines += [f"- {_code(text)} {', '.join(messages[text])}" for text in messages]
    return "\n".join([*lines, ""])


def _by_topic(catalogue: Catalogue, lang: str) -> Iterator[tuple[str, Recipe]]:
    """Each recipe with its topic: first aid by its groups, then what else there is."""
    aid = [c for c in catalogue.categories if c.slug == FIRST_AID]
    for category in aid + [c for c in catalogue.categories if c.slug != FIRST_AID]:
        for title, recipes in catalogue.grouped(category):
            shown = title if category.slug == FIRST_AID else category.title
            for recipe in recipes:
                yield shown.get(lang, category.title[lang]), recipe


def _messages(recipe: Recipe, lang: str) -> Iterator[tuple[str, str]]:
    """A recipe's messages, each on one line, with a link to where it is quoted."""
    page = recipe.page_for(lang)
    for number, error in enumerate(page.errors, start=1):
        first, _, more = error.partition("\n")
        if first.endswith(":"):  # what went wrong stands on the next line
            first = f"{first} {more.partition(chr(10))[0].strip()}"
        anchor = f"#error-{number}" if page.lang == lang else ""
        yield first.strip(), _link(recipe, lang, anchor)
    for number, (text, releases) in enumerate(
        wordings.of(page).items(), start=len(page.errors) + 1
    ):
        anchor = f"#error-{number}" if page.lang == lang else ""
        yield text, f"{_link(recipe, lang, anchor)} (PyTorch {', '.join(releases)})"


def rules_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the rules: a table per group, a row per rule."""
    words = WORDS[lang]
    lines = _head(words["rules"], words["rules_lead"], "rules")
    for group, title in GROUPS.items():
        lines += ["", f"## {title[lang]} {{ #{group.lower()} }}", ""]
        lines += [f"| {' | '.join(words['rules_columns'])} |", "| --- | --- | --- |"]
        rules = (rule for rule in RULES.values() if rule.code.startswith(group))
        lines += [_rule_row(rule, lang) for rule in rules]
    return "\n".join([*lines, ""])


def _rule_row(rule: Rule, lang: str) -> str:
    code = f"[{rule.code}](#{rule.code.lower()}){{ #{rule.code.lower()} }}"
    severity = WORDS[lang]["warning"] if rule.severity == WARNING else ""
    texts = [_literal(text) for text in rule.texts(lang, _Names())]
    return f"| {code} `{rule.name}`{severity} | {' | '.join(texts)} |"


class _Names(dict):
    """Stands for the facts of no particular problem."""

    def __missing__(self, key: str) -> str:
        return f"‹{key}›"


def _literal(text: str) -> str:
    """Text in which Markdown finds nothing to interpret."""
    line = " ".join(text.split())
    return re.sub(r"[^\w\s.,:;()/‹›]|_", lambda match: f"&#{ord(match[0])};", line)


def _head(title: str, lead: str, anchor: str, filtered: str = "") -> list[str]:
    """The page's beginning; with a box to filter its lists in that language."""
    heading = f"# {title} {{ #{anchor}-index }}"
    lines = ["---", f"title: {title}", "---", heading, "", lead, "{ .lead }"]
    if filtered:
        words = WORDS[filtered]["filter"]
        lines += ["", FILTER.format(words=words)]
    return lines


def _link(recipe: Recipe, lang: str, anchor: str = "") -> str:
    return f"[{recipe.title(lang)}]({recipe.category}/{recipe.slug}.md{anchor})"


def _code(text: str) -> str:
    """Inline code, whatever backticks the message itself contains."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
