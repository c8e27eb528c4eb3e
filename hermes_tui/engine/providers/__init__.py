"""Model providers: translate between the neutral request and each wire API, and nothing more."""
