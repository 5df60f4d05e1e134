"""Run the blocks of the pages, each alone, and judge what came of them."""
