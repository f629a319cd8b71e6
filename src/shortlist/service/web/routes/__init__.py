"""The routes, one module per topic; each has a `router`."""
