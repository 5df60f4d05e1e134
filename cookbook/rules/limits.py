"""Every number that a page or a snippet is held to; rules quote them as {limit}."""

# Lines, by the shape of a snippet: of the file, and of its answer without imports.
SNIPPET = {"call": 25, "helper": 45, "program": 60}
ANSWER = {"call": 8, "helper": 20, "program": 20}
FRONT_MATTER = {"title": 120, "description": 200}  # characters
PITFALLS = 5
SHARED_ALIASES = 4  # that lead to several recipes
REASON_WORDS = 3  # at least, of why a block is skipped
PICTURE, RASTER = 6_000, 25_000  # bytes, compressed
