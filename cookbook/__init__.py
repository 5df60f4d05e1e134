"""The engine of the cookbook: pages, runner, checks, site hooks, catalogue."""
