"""The agent: loop, stream, tools, interrupts."""
