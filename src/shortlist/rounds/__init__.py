"""The life of a round, shared by the library and the service.

A round is a record, an answer is an event, a stream is a fold of events:

    listed = stream.decide(round_id, values, ids)    # pure: changes nothing
    stream.apply(listed)                             # the only change
    event = admit(listed, answer)                    # an event, None if already given, or an error
    stream.apply(event)
    stream.due()                                     # the event that must follow before the next list, or None

The library does so under a lock; the service writes each event to its log before applying it. So
both are the same fold, and a log gives the same state wherever it is read.

| module | contents |
|---|---|
| `settings` | all settings, their defaults, their checks, and which of them exclude each other |
| `events` | the events of a stream |
| `admission` | which answers are accepted |
| `selection` | which candidates are shown |
| `tracker` | one threshold: a policy under late answers, silence and drift |
| `learning` | the learned score: its picks, its fit, what a fresh fit would change |
| `stream` | `decide`, `apply` and `due` |
| `progress` | summaries: what has happened and what is needed next, in figures and in words |
| `codec` | all of these to plain data and back |
"""
