"""Run the blocks of the pages, each alone, and keep a record of what came of it."""
