"""find-gpu-processes: a process that Ctrl+Z has suspended ends when it continues."""

import os
import signal
import subprocess
import sys
import time

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGSTOP")
def test_a_suspended_process_ends_only_when_it_continues():
    with subprocess.Popen(["sleep", "60"]) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # until it has stopped
        process.terminate()
        time.sleep(0.2)
        assert process.poll() is None
        state = ["ps", "-o", "stat=", "-p", str(process.pid)]
        assert subprocess.check_output(state, text=True).startswith("T")
        process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=60) == -signal.SIGTERM
