"""What helps people add recipes: templates, and what a change touches."""
