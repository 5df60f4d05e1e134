"""A contributor's commands: start a recipe, check one, what a change touches."""
