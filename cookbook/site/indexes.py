"""The index pages: symbols and error messages, to recipes; the rules of the checks."""

import re

from cookbook import apis, wordings
from cookbook.catalogue import Catalogue, Recipe
from cookbook.rules import GROUPS, RULES, WARNING, Rule

WORDS = {
    "en": {
        "apis": "API index",
        "apis_lead": "Every library symbol that a recipe's code uses, by module.",
        "errors": "Error index",
        "errors_lead": "Every error message that a recipe explains, by exception.",
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
        "errors_lead": "各条目解释过的全部报错信息，按异常类型排列。",
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
    lines = _head(WORDS[lang]["apis"], WORDS[lang]["apis_lead"], "apis")
    module = None
    for name in sorted(users, key=lambda name: (apis.module(name), name)):
        if apis.module(name) != module:
            module = apis.module(name)
            lines += ["", f"## {module} {{ #{module.replace('.', '-').lower()} }}", ""]
        links = ", ".join(_link(recipe, lang) for recipe in users[name])
        lines.append(f"- [`{name}`]({apis.documentation(name)}): {links}")
    return "\n".join([*lines, ""])


def error_page(catalogue: Catalogue, lang: str) -> str:
    """The Markdown of the error index: a heading per exception."""
    found: dict[tuple[str, str], list[Recipe]] = {}
    torch: dict[tuple[str, str], str] = {}  # releases of a wording that no page quotes
    for recipe in catalogue.recipes:
        for error in recipe.errors:
            kind, _, text = error.splitlines()[0].partition(": ")
            users = found.setdefault((kind, text), [])
            if recipe not in users:
                users.append(recipe)
        for text, releases in wordings.of(recipe.page_for(lang)).items():
            kind, _, text = text.partition(": ")
            found.setdefault((kind, text), []).append(recipe)
            torch.setdefault((kind, text), f" (PyTorch {', '.join(releases)})")
    lines = _head(WORDS[lang]["errors"], WORDS[lang]["errors_lead"], "errors")
    previous = None
    for kind, text in sorted(found):
        if kind != previous:
            lines += ["", f"## {kind} {{ #{kind.lower()} }}", ""]
        previous = kind
        links = ", ".join(_link(recipe, lang) for recipe in found[kind, text])
        lines.append(f"- {_code(text)}{torch.get((kind, text), '')}: {links}")
    return "\n".join([*lines, ""])


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


def _head(title: str, lead: str, anchor: str) -> list[str]:
    heading = f"# {title} {{ #{anchor}-index }}"
    return ["---", f"title: {title}", "---", heading, "", lead, "{ .lead }"]


def _link(recipe: Recipe, lang: str) -> str:
    return f"[{recipe.title(lang)}]({recipe.category}/{recipe.slug}.md)"


def _code(text: str) -> str:
    """Inline code, whatever backticks the message itself contains."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
