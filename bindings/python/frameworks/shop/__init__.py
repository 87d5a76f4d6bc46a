"""A project of Django's: customers, and their orders with lines."""
