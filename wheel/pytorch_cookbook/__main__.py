"""PyTorch recipes that were run. / 运行验证过的 PyTorch 代码。"""

import argparse
import contextlib
import sys

from pytorch_cookbook import book
from pytorch_cookbook.explain import explain_error


def serve(port: int) -> None:
    """Unpack the site where it is cleared away at the end."""
    import shutil
    import tempfile
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    packed = book.DATA / "site.tar.xz"
    if not packed.exists():
        raise book.AskedError("this wheel was built without the site")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        shutil.unpack_archive(packed, filter="data")
        server = ThreadingHTTPServer(("127.0.0.1", port), SimpleHTTPRequestHandler)
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()


def text_or_stdin(text: str) -> str:
    """What was given, or what is piped."""
    return sys.stdin.read() if text == "-" else text


def mcp() -> None:
    """Import the SDK here: a search does without it."""
    from pytorch_cookbook.server import server

    server.run("stdio")


COMMANDS = {
    "find": (book.search, "search: a task, an API, an error / 搜索：任务、API 或报错"),
    "show": (book.get_recipe, "a recipe's answer, or its page / 一个条目的答案或整页"),
    "explain": (explain_error, "what a traceback means: explain < log.txt / 解释报错"),
    "serve": (serve, "the site, without a network / 本地打开整个网站，不用联网"),
    "mcp": (mcp, "a server for assistants, on stdio / 给 AI 助手用的 MCP 服务"),
}
PART = {"dest": "part", "action": "store_const", "default": "answer"}
PIPED = {"nargs": "?", "default": "-", "type": text_or_stdin}
# For each parameter of a command's function: the option, and what argparse is told.
OPTIONS = [
    ("query", "query", {}),
    ("slug", "slug", {}),
    ("traceback", "traceback", PIPED | {"help": "or on stdin / 或标准输入"}),
    ("part", "--answer", PART | {"const": "answer", "help": "to paste / 要粘贴的代码"}),
    ("part", "--page", PART | {"const": "page", "help": "all of it / 整页"}),
    ("part", "--file", PART | {"const": "file", "help": "its files / 完整文件"}),
    ("torch", "--torch", {"default": "", "help": "yours, as in 2.6.0 / 你的版本"}),
    ("lang", "--lang", {"default": "", "help": "en, zh"}),
    ("port", "--port", {"default": 8000, "type": int}),
]


def main() -> None:
    """The command; 2 where it was used wrongly, with nothing on stdout."""
    top = argparse.ArgumentParser("pytorch-cookbook", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for name, (do, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        command.set_defaults(do=do)
        for parameter, option, settings in OPTIONS:
            if parameter in do.__annotations__:
                command.add_argument(option, **settings)
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(errors="replace")
    asked = vars(top.parse_args())
    do = asked.pop("do")
    try:
        if said := do(**asked):
            print(said)
    except (book.AskedError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
