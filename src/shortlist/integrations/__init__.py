"""Adapters for common frameworks. Each is thin: it turns a framework's results into a list, and back.

Importing this package imports none of them; each module needs its own extra.
"""
