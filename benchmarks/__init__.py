"""What isolation, the build and a page cost, beside what they are compared with."""
