"""From the pages to the site: what is rendered, derived, indexed and searched."""
