"""The durable service: store (SQL, no statistics) <- engine (use cases, no HTTP) <- app (HTTP).

Every round and every answer is an event. An event is on disk before anybody hears of it; the state
of a stream is a fold of its events, in their order, and of nothing else.
"""
