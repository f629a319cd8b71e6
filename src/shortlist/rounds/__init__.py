"""The life of a round, the library's and the service's.

A round is a record, an answer is an event, a stream is a fold of events:

    listed = stream.decide(round_id, values, ids)    # looks, and changes nothing
    stream.apply(listed)                             # the only change
    event = admit(listed, answer)                    # an event, None if it was given before, or an error
    stream.apply(event)
    stream.due()                                     # the event that must follow before the next list, or None

The library does so under a lock, the service writes each event to its log before it applies it. So
both are the same fold, and a log gives the same state wherever it is read.

| module | what it knows |
|---|---|
| `settings` | every setting, its default, its check, and which of them exclude each other |
| `events` | what can happen to a round |
| `admission` | which answers are taken |
| `selection` | which candidates are shown |
| `tracker` | one threshold: a policy under late answers, silence and drift |
| `learning` | the score that is learned first: its picks, its fit, what a fresh one would change |
| `stream` | `decide`, `apply` and `due` |
| `progress` | what has happened and what is waited for, in figures and in words |
| `codec` | all of these as plain data, and back |
"""
