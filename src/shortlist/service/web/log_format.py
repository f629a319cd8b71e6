"""Logs: one JSON object per line, on standard error."""

import json
import logging
import sys
from datetime import UTC, datetime

__all__ = ["configure"]


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line of JSON."""
        payload = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "payload", {}),
        }
        if record.exc_info:
            payload["trace"] = self.formatException(record.exc_info)
        return json.dumps(payload, ensure_ascii=False)


def configure(*, access: bool) -> None:
    """Send our logs, and those of the web server, to standard error.

    Parameters
    ----------
    access
        Log every request, not only those that failed.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("shortlist").setLevel(logging.INFO)
    logging.getLogger("shortlist.access").setLevel(logging.INFO if access else logging.WARNING)
