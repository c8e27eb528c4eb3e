"""Full screens and modal dialogs."""
