"""PyTorch recipes that were run. / 运行验证过的 PyTorch 代码。"""

import argparse
import sys

from pytorch_cookbook import book

MOST = 16 << 20  # characters of a log that are read
HELP = {
    "find": "search: a task, an API, an error / 搜索：任务、API 或报错",
    "show": "a recipe's answer, or its whole page / 一个条目的答案，或整页",
    "explain": "what a traceback means: explain < log.txt / 解释报错",
    "serve": "the site, without a network / 本地打开整个网站，不用联网",
    "mcp": "an MCP server for assistants, on stdio / 给 AI 助手用的 MCP 服务（stdio）",
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser("pytorch-cookbook", description=__doc__)
    commands = top.add_subparsers(required=True, dest="command")
    add = {name: commands.add_parser(name, help=text) for name, text in HELP.items()}
    add["find"].add_argument("query")
    add["show"].add_argument("slug")
    only = add["show"].add_mutually_exclusive_group()
    text = (
        "the default: imports, code, what is yours / 默认：导入、代码、要换成自己的名字"
    )
    only.add_argument("--answer", action="store_true", help=text)
    only.add_argument("--page", action="store_true", help="all of it / 整页")
    only.add_argument("--file", action="store_true", help="its files / 完整文件")
    for name in ("find", "show"):
        text = "your version, such as 2.6.0 / 你的版本，如 2.6.0"
        add[name].add_argument("--torch", metavar="X.Y.Z", help=text)
    for name in ("find", "show", "explain"):
        add[name].add_argument("--lang", help="en, zh")
    add["serve"].add_argument("--port", type=int, default=8000)
    return top


def run(asked: argparse.Namespace) -> None:
    """Do what was asked.

    Raises:
        AskedError: it can not be done; says why.
    """
    if asked.command == "find":
        lang = book.language(asked.lang, asked.query)
        found = book.find(asked.query, lang)[: book.SHOWN]
        if not found:
            raise book.AskedError("no recipe for this / 没有这个主题的条目")
        print("\n".join(book.hit(one, lang, asked.torch) for one in found))
    elif asked.command == "show":
        part = "page" if asked.page else "file" if asked.file else "answer"
        lang = book.language(asked.lang)
        print(book.shown(book.recipe(asked.slug), lang, part, asked.torch))
    elif asked.command == "explain":
        from pytorch_cookbook.explain import told

        print(told(sys.stdin.read(MOST), book.language(asked.lang)))
    elif asked.command == "serve":
        serve(asked.port)
    else:
        from pytorch_cookbook.server import server

        server.run("stdio")


def serve(port: int) -> None:
    """Unpack the site and serve it until Ctrl-C."""
    import functools
    import http.server
    import tarfile
    import tempfile

    if not (book.DATA / "site.tar.xz").exists():
        raise book.AskedError("this wheel was built without the site")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(book.DATA / "site.tar.xz") as site:
            site.extractall(folder, filter="data")
        handler = functools.partial(
            http.server.SimpleHTTPRequestHandler, directory=folder
        )
        with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
            print(f"http://127.0.0.1:{server.server_port}/", flush=True)
            server.serve_forever()


def main() -> None:
    """The command; 2 where it was used wrongly, with nothing on stdout."""
    try:
        run(parser().parse_args())
    except book.AskedError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
