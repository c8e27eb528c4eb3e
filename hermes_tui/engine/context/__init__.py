"""What goes into a request: prompt layers, the window over the history, token estimates."""
