"""The cookbook for assistants: an MCP server on stdin and stdout."""

import contextlib
from collections.abc import Iterator

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from pytorch_cookbook.book import AskedError, get_recipe, search
from pytorch_cookbook.explain import explain_error

USE = """PyTorch recipes of which every file was run; each answer says on which torch.
Search first; take the answer as it is, with its imports, and put in the asker's own
names where it says "Yours". Give `torch` if you know the asker's version."""
server = MCPServer("pytorch-cookbook", instructions=USE, log_level="WARNING")


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Errors of use reach the client as messages."""
    try:
        yield
    except AskedError as error:
        raise ToolError(str(error)) from None


for tool in (search, get_recipe, explain_error):
    server.tool()(in_words()(tool))


@server.resource("recipe://{lang}/{slug}", mime_type="text/markdown")
def page(lang: str, slug: str) -> str:
    """A recipe's page, complete."""
    return get_recipe(slug, lang, "page")


@server.prompt()
def adapt(slug: str, code: str) -> str:
    """Put this verified PyTorch recipe into my code. Change its names to mine and
    nothing else of it; say what you could not keep."""
    return f"{adapt.__doc__}\n\n{get_recipe(slug)}\n\nMy code:\n{code}"
