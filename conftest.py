"""Makes pytest collect the blocks of the pages in docs/."""

pytest_plugins = ["cookbook.running.plugin"]
