"""How many random examples a property is tried on: a fixed few, or N times as many new ones (`make fuzz`)."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

#: Examples of a property that asks for no other number.
USUAL = 100

#: Of the examples that a property asks for, the share that runs without `--fuzz`.
SAMPLE = 0.15


def use_profile(times: int) -> None:
    """Try the same examples on every machine, or where `times` is not 0 so many times as many, always new.

    A failure is made smaller by the second kind alone: the models are small, and that can take minutes.
    """
    settings.register_profile(
        "repeatable",
        derandomize=True,
        deadline=None,
        max_examples=round(USUAL * SAMPLE),
        phases=(Phase.generate,),
    )
    settings.register_profile(
        "fuzz",
        deadline=None,
        max_examples=USUAL * max(times, 1),
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("fuzz" if times else "repeatable")


def examples(number: int) -> settings:
    """Try a property on `SAMPLE` of `number` examples, and with `pytest --fuzz N` on N times as many.

    This decorates what `@given` decorates. Hypothesis marks a test that `@given` decorates, and `make fuzz`
    runs what is so marked; a test that calls a property defined inside it needs `@pytest.mark.hypothesis`.
    """
    return settings(max_examples=max(2, number * settings().max_examples // USUAL))
