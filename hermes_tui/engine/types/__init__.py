"""Plain data shared by every ring: messages, deltas, events, requests, usage, errors, ids. Standard library only."""
