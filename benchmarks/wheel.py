"""What the wheel costs: its size, a search from the shell, a question over MCP."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from cookbook.book.catalogue import Catalogue
from cookbook.site import wheel

ROOT = Path(__file__).parents[1]
ROUNDS = 20
ASKED = ("爆显存", "label smoothing", "loss is nan", "how to load a checkpoint", "DDP")


def seconds(environment: dict, query: str) -> float:
    """Of a search by a new Python."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "pytorch_cookbook", "find", query]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


async def over_mcp(packages: str) -> tuple[float, list[float]]:
    """Seconds until a client is connected, and of each answer."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pytorch_cookbook", "mcp"],
        env={"PYTHONPATH": packages},
    )
    started, taken = time.perf_counter(), []
    async with Client(stdio_client(server)) as client:
        connected = time.perf_counter() - started
        for query in ASKED * ROUNDS:
            started = time.perf_counter()
            answer = await client.call_tool("search", {"query": query})
            assert not answer.is_error, answer
            taken.append(time.perf_counter() - started)
    return connected, taken


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        wheel.build(Catalogue(ROOT), None, Path(folder))
        (built,) = Path(folder).iterdir()
        print(f"{built.stat().st_size / 1e6:.2f} MB without the site")
        packages = str(Path(folder, "packages"))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", packages, built], check=True)
        environment = {**os.environ, "PYTHONPATH": packages}
        found = median(seconds(environment, query) for query in ASKED * 2)
        print(f"{found:.2f} s for a search from the shell")
        connected, taken = asyncio.run(over_mcp(packages))
        print(f"{connected:.2f} s until a client of MCP is connected")
        print(f"{quantiles(taken, n=20)[-1] * 1000:.0f} ms for an answer, 95 %")
