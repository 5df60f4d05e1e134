"""The index pages: every library symbol, and every error message, to recipes."""

from cookbook import apis
from cookbook.catalogue import Catalogue, Recipe

WORDS = {
    "en": {
        "apis": "API index",
        "apis_lead": "Every library symbol that a recipe's code uses, by module.",
        "errors": "Error index",
        "errors_lead": "Every error message that a recipe explains, by exception.",
    },
    "zh": {
        "apis": "API 索引",
        "apis_lead": "各条目代码中用到的全部库函数与类，按模块排列。",
        "errors": "报错索引",
        "errors_lead": "各条目解释过的全部报错信息，按异常类型排列。",
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
    for recipe in catalogue.recipes:
        for error in recipe.errors:
            kind, _, text = error.splitlines()[0].partition(": ")
            users = found.setdefault((kind, text), [])
            if recipe not in users:
                users.append(recipe)
    lines = _head(WORDS[lang]["errors"], WORDS[lang]["errors_lead"], "errors")
    previous = None
    for kind, text in sorted(found):
        if kind != previous:
            lines += ["", f"## {kind} {{ #{kind.lower()} }}", ""]
        previous = kind
        links = ", ".join(_link(recipe, lang) for recipe in found[kind, text])
        lines.append(f"- {_code(text)}: {links}")
    return "\n".join([*lines, ""])


def _head(title: str, lead: str, anchor: str) -> list[str]:
    heading = f"# {title} {{ #{anchor}-index }}"
    return ["---", f"title: {title}", "---", heading, "", lead, "{ .lead }"]


def _link(recipe: Recipe, lang: str) -> str:
    return f"[{recipe.title(lang)}]({recipe.category}/{recipe.slug}.md)"


def _code(text: str) -> str:
    """Inline code, whatever backticks the message itself contains."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
