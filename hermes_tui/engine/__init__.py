"""The agent runtime: plain synchronous Python that knows no screen."""
