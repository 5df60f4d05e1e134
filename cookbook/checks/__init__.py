"""The rules for pages and snippets: what breaks them, and what to write instead."""
