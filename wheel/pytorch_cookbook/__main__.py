"""PyTorch recipes that were run. / 运行验证过的 PyTorch 代码。"""

import argparse
import contextlib
import sys

from pytorch_cookbook import book

MOST = 16 << 20  # characters of a log that are read


# A command is a function: its options by their names, its help by its first line.
def find(query: str, torch: str, lang: str) -> str:
    """search: a task, an API, an error / 搜索：任务、API 或报错"""
    return book.search(query, lang, torch)


def show(slug: str, part: book.Part, torch: str, lang: str) -> str:
    """a recipe's answer, or its whole page / 一个条目的答案，或整页"""
    return book.get_recipe(slug, lang, part, torch)


def explain(lang: str) -> str:
    """what a traceback means: explain < log.txt / 解释报错"""
    from pytorch_cookbook.explain import explain_error

    return explain_error(sys.stdin.read(MOST), lang)


def serve(port: int) -> None:
    """the site, without a network / 本地打开整个网站，不用联网"""
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


def mcp() -> None:
    """an MCP server for assistants, on stdio / 给 AI 助手用的 MCP 服务（stdio）"""
    from pytorch_cookbook.server import server

    server.run("stdio")


PART = {"dest": "part", "action": "store_const", "default": "answer"}
ANSWER = (
    "the default: imports, code, what is yours / 默认：导入、代码、要换成自己的名字"
)
OPTIONS = {
    "--answer": PART | {"const": "answer", "help": ANSWER},
    "--page": PART | {"const": "page", "help": "all of it / 整页"},
    "--file": PART | {"const": "file", "help": "its files / 完整文件"},
    "--torch": {"default": "", "help": "your version, such as 2.6.0 / 你的版本"},
    "--lang": {"default": "", "help": "en, zh"},
    "--port": {"default": 8000, "type": int},
}
COMMANDS = {
    find: ["query", "--torch", "--lang"],
    show: ["slug", "--answer", "--page", "--file", "--torch", "--lang"],
    explain: ["--lang"],
    serve: ["--port"],
    mcp: [],
}


def main() -> None:
    """The command; 2 where it was used wrongly, with nothing on stdout."""
    top = argparse.ArgumentParser("pytorch-cookbook", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for do, options in COMMANDS.items():
        command = commands.add_parser(do.__name__, help=do.__doc__)
        command.set_defaults(do=do)
        for option in options:
            command.add_argument(option, **OPTIONS.get(option, {}))
    asked = vars(top.parse_args())
    do = asked.pop("do")
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(errors="replace")
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
