"""The use cases: streams, rounds, answers, exactly once, durable before they are heard of. No HTTP."""

from shortlist.service.engine.engine import Engine
from shortlist.service.engine.export import export_stream
from shortlist.service.engine.settings import Settings
from shortlist.service.engine.verify import Finding, verify

__all__ = ["Engine", "Finding", "Settings", "export_stream", "verify"]
