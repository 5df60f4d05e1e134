"""What the search and the build of the site cost."""
