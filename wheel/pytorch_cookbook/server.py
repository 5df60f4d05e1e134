"""The cookbook for assistants: an MCP server on stdin and stdout."""

import functools
from collections.abc import Callable

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from pytorch_cookbook import book
from pytorch_cookbook.explain import told

USE = """PyTorch recipes of which every file was run; each answer says on which torch.
Search first; take the answer as it is, with its imports, and put in the asker's own
names where it says "Yours". Give `torch` if you know the asker's version."""
server = MCPServer("pytorch-cookbook", instructions=USE, log_level="WARNING")


def in_words(function: Callable[..., str]) -> Callable[..., str]:
    """Errors of use reach the client as messages."""

    @functools.wraps(function)
    def wrapped(*arguments, **options):
        try:
            return function(*arguments, **options)
        except book.AskedError as error:
            raise ToolError(str(error)) from None

    return wrapped


@server.tool()
@in_words
def search(query: str, lang: str = "", torch: str = "") -> str:
    """Find recipes for a task, an API or an error, in English or Chinese: one a line.

    torch: the asker's version, such as 2.6.0; lang: en or zh, else that of the query.
    """
    lang = book.language(lang, query)
    found = book.find(query, lang)[: book.SHOWN]
    return (
        "\n".join(book.hit(one, lang, torch) for one in found) or "no recipe for this"
    )


@server.tool()
@in_words
def get_recipe(slug: str, lang: str = "", part: str = "answer", torch: str = "") -> str:
    """A recipe's answer (imports, code, what is yours), its whole page, or its files.

    part: answer, page or file.
    """
    return book.shown(book.recipe(slug), book.language(lang), part, torch)


@server.tool()
@in_words
def explain_error(traceback: str, lang: str = "") -> str:
    """What a traceback or log means: the line that counts, its causes and the fix."""
    return told(traceback, book.language(lang))


@server.resource("recipe://{lang}/{slug}", mime_type="text/markdown")
def page(lang: str, slug: str) -> str:
    """A recipe's page, complete."""
    return book.shown(book.recipe(slug), book.language(lang), "page")


@server.prompt()
def adapt(slug: str, code: str) -> str:
    """Adapt a recipe to my code."""
    answer = book.shown(book.recipe(slug), "en", "answer")
    return (
        "Put this verified PyTorch recipe into my code. Change its names to mine and "
        "nothing else of it; say what you could not keep."
        f"\n\n{answer}\n\nMy code:\n{code}"
    )
