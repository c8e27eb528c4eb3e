"""Ways to run the agent without the screen."""
