"""What isolation, the build and the search cost, beside their targets."""
