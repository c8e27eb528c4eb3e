"""Tools that the model may call. This ring imports nothing of the engine; what a tool needs arrives in its context."""
