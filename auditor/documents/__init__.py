"""Output documents: versioned, frozen, and what their JSON names mean.

Each document says its ``kind`` and ``version``. The names are a contract: within a version a name is never
dropped and never changes its meaning.
"""
