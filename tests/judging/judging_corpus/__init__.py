"""Raw responses and what they must come to, from docs/contracts.md: data, a theme a module."""
