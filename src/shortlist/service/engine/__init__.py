"""The use cases: streams, rounds, answers, applied exactly once, on disk before they are acknowledged. No HTTP."""

from shortlist.service.engine.engine import Engine
from shortlist.service.engine.export import export_stream
from shortlist.service.engine.stream_settings import StreamSettings
from shortlist.service.engine.training_set import write_labels
from shortlist.service.engine.verify import Finding, verify

__all__ = ["Engine", "Finding", "StreamSettings", "export_stream", "verify", "write_labels"]
