"""What helps people add recipes: templates, what a change touches, the report on it."""
