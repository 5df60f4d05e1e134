"""What isolation, the build and a search cost, beside their targets."""
