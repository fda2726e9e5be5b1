"""Documents as people read them."""
