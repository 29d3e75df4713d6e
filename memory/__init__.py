"""What is remembered of a user's past: written in order of time, read through a view that ends now."""
