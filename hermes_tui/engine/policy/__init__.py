"""Decisions: the gate, approvals, budgets, retries, guardrails."""
