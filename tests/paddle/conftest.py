"""Plain pytest leaves this folder out: Paddle lives in an environment of its own.

``make test-paddle`` sets that up and names the test file, which collects it.
"""

collect_ignore = ["test_paddle_to_pytorch.py"]
