"""What all tests share."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The same examples on every machine; `--hypothesis-profile explore` tries new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile(
    "explore", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")
