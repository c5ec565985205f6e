"""The rules of attempts, their records, and what a page says about them."""
