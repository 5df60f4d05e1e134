"""What a checkout holds: pages, snippets, answers, records. Read here, never judged."""
