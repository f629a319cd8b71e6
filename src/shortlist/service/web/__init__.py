"""HTTP: the only package that knows status codes and the web framework."""

from shortlist.service.web.app import create_app
from shortlist.service.web.server import listen, run

__all__ = ["create_app", "listen", "run"]
