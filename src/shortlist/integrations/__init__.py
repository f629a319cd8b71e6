"""Adapters for the tools that people use. Each is thin: it turns a framework's results into a list, and back.

Importing this imports none of them; each module needs its own extra.
"""
