"""What a person does in the chat, by the groups of the table of actions."""
