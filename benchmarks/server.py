"""A folder served as a host would: compressed, and counted."""

import gzip
import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Handler(BaseHTTPRequestHandler):
    """Answers GET with the file, gzipped; notes how much it sent of each path."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args, folder: Path, sent: dict[str, int]):
        self.folder, self.sent = folder, sent
        super().__init__(*args)

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        file = self.folder / path.lstrip("/")
        if file.is_dir():
            file /= "index.html"
        found = file.is_file()
        body = gzip.compress(file.read_bytes() if found else b"", mtime=0)
        self.sent[path] = len(body)
        self.send_response(200 if found else 404)
        kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
        text = kind.startswith("text/") or kind.endswith(("javascript", "json", "xml"))
        charset = "; charset=utf-8" if text else ""
        self.send_header("Content-Type", kind + charset)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Keep the output to the measures."""


@contextmanager
def serve(folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Serve a folder; yields its address and the bytes sent of each path."""
    sent: dict[str, int] = {}
    handler = partial(Handler, folder=folder, sent=sent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", sent
        server.shutdown()
        thread.join()
