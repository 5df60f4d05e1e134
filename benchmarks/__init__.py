"""What isolation and the build cost, beside their targets."""
