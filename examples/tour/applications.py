"""Writes a year of loan applications at an invented bank: ``python applications.py 2024 > 2024.csv``.

Nobody in them exists. The year draws them, so that the same year gives the same applications.
"""

from __future__ import annotations

import csv
import sys
from random import Random

ROWS = 2000
COLUMNS = ("gender", "age", "contract", "housing", "savings", "granted")


def application(random: Random) -> tuple[str, int, str, str, str, str]:
    """Draw a person and the bank's decision, which is not the same for all at equal means."""

    def draw(chances: dict[str, float]) -> str:
        # One number a draw, in a fixed order: that keeps a year's applications what they are.
        left = random.random()
        for value, chance in chances.items():
            left -= chance
            if left < 0:
                return value
        return value

    gender = draw({"female": 0.5, "male": 0.5})
    age = 18 + int(52 * random.random())
    permanent = 0.35 + 0.3 * (age >= 30) + 0.05 * (gender == "male")
    contract = draw(
        {"permanent": permanent, "temporary": 0.7 * (1 - permanent), "none": 0.3 * (1 - permanent)}
    )
    housing = draw({"own": 0.15 + 0.35 * (age >= 45), "rent": 1.0})
    savings = draw({"none": 0.45 - 0.2 * (age >= 45), "some": 0.4, "ample": 1.0})
    points = {"permanent": 3, "temporary": 1, "none": -2}[contract]
    points += {"own": 1, "rent": 0}[housing] + {"none": -1, "some": 0, "ample": 2}[savings]
    points += 1 * (gender == "male") - 1 * (age < 30)
    granted = draw({"yes": min(0.95, max(0.05, 0.3 + 0.12 * points)), "no": 1.0})
    return gender, age, contract, housing, savings, granted


def main() -> None:
    """Write the year."""
    random = Random(int(sys.argv[1]))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(application(random) for _ in range(ROWS))


if __name__ == "__main__":
    main()
