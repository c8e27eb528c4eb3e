"""Budgets of the product, measured as ratios within one run."""
