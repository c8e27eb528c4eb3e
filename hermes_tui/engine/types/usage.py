"""Token counts in disjoint buckets."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request, or a sum of several. The buckets never overlap."""

    input_tokens: int = 0
    """Prompt tokens billed in full: neither read from nor written to a cache."""
    output_tokens: int = 0
    """Generated tokens, reasoning included."""
    cache_read_tokens: int = 0
    """Prompt tokens served from the provider's cache."""
    cache_write_tokens: int = 0
    """Prompt tokens written to the provider's cache."""
    reasoning_tokens: int = 0
    """The part of ``output_tokens`` spent on reasoning, where the provider says."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    @property
    def prompt_tokens(self) -> int:
        """All tokens the request carried, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    def as_dict(self) -> dict[str, int]:
        """Return the five buckets under the library's result keys."""
        return {f.name: getattr(self, f.name) for f in fields(self)}
