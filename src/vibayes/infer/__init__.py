"""Samplers, one per file. They see callables and arrays only, and know nothing of mechanics."""
