"""Makes the examples that come from data: ``python examples/make.py [FOLDER]``.

The folder holds ``codebook.json``, the three binarised tables and ``german_raw.data``; without an argument it
is ``../shared/data`` beside this checkout. Where it is absent, the examples stay as they are.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from auditor.model.spec import ModelSpec
from auditor.model.writing import dump_model
from auditor.output import write_text

EXAMPLES = Path(__file__).parent
DATA = EXAMPLES.parent.parent / "shared" / "data"

#: File and table to the model's name and what is known of its origin.
BINARISED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "compas": (
        "COMPAS",
        {
            "description": "Recidivism risk as scored by COMPAS, from seven attributes of two values each.",
            "data_source": "ProPublica, compas-analysis: raw scores of Broward County, Florida",
            "period": "2013 to 2014",
        },
    ),
    "adult": (
        "Adult",
        {
            "description": "Yearly income above 50,000 dollars, from thirteen attributes of two values each.",
            "data_source": "UCI Machine Learning Repository, Adult: from the census of the United States",
            "period": "1994",
        },
    ),
    "german": (
        "German credit",
        {
            "description": "Credit risk, from twenty-one attributes of two values each.",
            "data_source": "UCI Machine Learning Repository, Statlog (German Credit Data)",
            "period": "1973 to 1975",
        },
    ),
}

#: Sensitive attributes of german_raw.data and the reason for each.
GERMAN_SENSITIVE = {
    name: f"{ground} is a ground of discrimination in Article 21 of the EU Charter of Fundamental Rights."
    for name, ground in {
        "Personal status and sex": "Sex",
        "Age": "Age",
        "Foreign worker": "Nationality",
    }.items()
}

#: Column of german_raw.data to the attribute's name and its labels by code, without codes that no row has.
GERMAN_CODES: Mapping[int, tuple[str, Mapping[str, str]]] = {
    0: (
        "Checking account",
        {
            "A11": "Below 0 DM",
            "A12": "0 to 199 DM",
            "A13": "200 DM or more, or salary paid in for a year",
            "A14": "No checking account",
        },
    ),
    2: (
        "Credit history",
        {
            "A30": "No credits, or all paid back duly",
            "A31": "All credits at this bank paid back duly",
            "A32": "Existing credits paid back duly till now",
            "A33": "Delay in paying off in the past",
            "A34": "Critical account, or credits at other banks",
        },
    ),
    3: (
        "Purpose",
        {
            "A40": "New car",
            "A41": "Used car",
            "A42": "Furniture or equipment",
            "A43": "Radio or television",
            "A44": "Domestic appliances",
            "A45": "Repairs",
            "A46": "Education",
            "A48": "Retraining",
            "A49": "Business",
            "A410": "Other",
        },
    ),
    5: (
        "Savings",
        {
            "A61": "Below 100 DM",
            "A62": "100 to 499 DM",
            "A63": "500 to 999 DM",
            "A64": "1,000 DM or more",
            "A65": "Unknown or no savings account",
        },
    ),
    6: (
        "Present employment since",
        {
            "A71": "Unemployed",
            "A72": "Under 1 year",
            "A73": "1 to under 4 years",
            "A74": "4 to under 7 years",
            "A75": "7 years or more",
        },
    ),
    7: ("Instalment rate", {"1": "Class 1", "2": "Class 2", "3": "Class 3", "4": "Class 4"}),
    8: (
        "Personal status and sex",
        {
            "A91": "Male, divorced or separated",
            "A92": "Female, divorced, separated or married",
            "A93": "Male, single",
            "A94": "Male, married or widowed",
        },
    ),
    9: ("Other debtors", {"A101": "None", "A102": "Co-applicant", "A103": "Guarantor"}),
    10: ("Present residence since", {"1": "Class 1", "2": "Class 2", "3": "Class 3", "4": "Class 4"}),
    11: (
        "Property",
        {
            "A121": "Real estate",
            "A122": "Building society savings or life insurance",
            "A123": "Car or other",
            "A124": "Unknown or none",
        },
    ),
    13: ("Other instalment plans", {"A141": "Bank", "A142": "Stores", "A143": "None"}),
    14: ("Housing", {"A151": "Rent", "A152": "Own", "A153": "Free of charge"}),
    15: ("Credits at this bank", {"1": "One", "2": "Two", "3": "Three", "4": "Four"}),
    16: (
        "Job",
        {
            "A171": "Unemployed, or unskilled and not resident",
            "A172": "Unskilled and resident",
            "A173": "Skilled employee or official",
            "A174": "Manager, self-employed or highly qualified",
        },
    ),
    17: ("Dependants", {"1": "One", "2": "Two"}),
    18: ("Telephone", {"A191": "None", "A192": "Registered"}),
    19: ("Foreign worker", {"A201": "Yes", "A202": "No"}),
}

#: Column of german_raw.data to the attribute's name and its bins: least number and name, increasing.
GERMAN_BINS: Mapping[int, tuple[str, Sequence[tuple[int, str]]]] = {
    1: (
        "Duration",
        [
            (0, "Up to 12 months"),
            (13, "13 to 24 months"),
            (25, "25 to 36 months"),
            (37, "Over 36 months"),
        ],
    ),
    4: (
        "Credit amount",
        [
            (0, "Up to 1,500 DM"),
            (1501, "1,501 to 3,000 DM"),
            (3001, "3,001 to 5,000 DM"),
            (5001, "5,001 to 10,000 DM"),
            (10001, "Over 10,000 DM"),
        ],
    ),
    12: (
        "Age",
        [
            (0, "Under 25"),
            (25, "25 to 34"),
            (35, "35 to 49"),
            (50, "50 to 64"),
            (65, "65 or over"),
        ],
    ),
}


def examples(data: Path) -> Iterator[tuple[str, ModelSpec]]:
    """Yield the name of each example's file, without suffix, and its specification."""
    codebook = json.loads((data / "codebook.json").read_text(encoding="utf-8"))
    for name in BINARISED:
        yield name, binarised(name, codebook[name], data)
    yield "german_categories", german_categories(data)


def binarised(name: str, codes: Mapping[str, Any], data: Path) -> ModelSpec:
    """Count a table of two values per column; the codebook has labels, order and what is sensitive."""
    with (data / codes["file"]).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    column = {title.removesuffix("_"): i for i, title in enumerate(header)}
    decision, labels = codes["decision"], codes["labels"]
    favourable = str(codes["favourable"])
    unfavourable = str(1 - codes["favourable"])
    counts = Counter((a, row[column[a]], row[column[decision]]) for row in rows for a in column)

    def value(attribute: str, code: str) -> dict[str, str]:
        return {"value": code, "label": labels[attribute][int(code)]}

    title, provenance = BINARISED[name]
    return ModelSpec.model_validate(
        {
            "kind": "auditor/model",
            "version": 1,
            "name": title,
            "decision": {
                "name": decision,
                "favourable": value(decision, favourable),
                "unfavourable": value(decision, unfavourable),
                "counts": {
                    "favourable": counts[decision, favourable, favourable],
                    "unfavourable": counts[decision, unfavourable, unfavourable],
                },
            },
            "smoothing": 0,
            "attributes": [
                {
                    "name": attribute,
                    "sensitive": attribute in codes["sensitive"],
                    "values": [value(attribute, code) for code in "01"],
                    "counts": {
                        "favourable": [counts[attribute, code, favourable] for code in "01"],
                        "unfavourable": [counts[attribute, code, unfavourable] for code in "01"],
                    },
                }
                for attribute in codes["order"]
            ],
            "provenance": {**provenance, "rows": len(rows)},
        }
    )


def german_categories(data: Path) -> ModelSpec:
    """Count the German credit data in its original categories, with numbers in named bins."""
    with (data / "german_raw.data").open(encoding="ascii") as file:
        rows = [line.split() for line in file]
    decided = Counter(row[20] for row in rows)
    return ModelSpec.model_validate(
        {
            "kind": "auditor/model",
            "version": 1,
            "name": "German credit, original categories",
            "decision": {
                "name": "Credit risk",
                "favourable": {"value": "1", "label": "Good"},
                "unfavourable": {"value": "2", "label": "Bad"},
                "counts": {"favourable": decided["1"], "unfavourable": decided["2"]},
            },
            "smoothing": 0,
            "attributes": [german_attribute(i, rows) for i in range(20)],
            "provenance": {
                "description": "Credit risk, from seventeen attributes in their original categories "
                "and three numbers in bins. The labels are those of the published documentation, "
                "parts of which are known to be wrong.",
                "data_source": "UCI Machine Learning Repository, Statlog (German Credit Data)",
                "period": "1973 to 1975",
                "rows": len(rows),
            },
        }
    )


def german_attribute(column: int, rows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Count one column."""
    values: list[Any]
    if column in GERMAN_CODES:
        name, labels = GERMAN_CODES[column]
        codes = list(labels)
        values = [{"value": code, "label": label} for code, label in labels.items()]
        cells = [row[column] for row in rows]
    else:
        name, bins = GERMAN_BINS[column]
        codes = [label for _, label in bins]
        values = codes
        cells = [[label for least, label in bins if int(row[column]) >= least][-1] for row in rows]
    counts = Counter(zip(cells, (row[20] for row in rows), strict=True))
    return {
        "name": name,
        "sensitive": name in GERMAN_SENSITIVE,
        "sensitive_reason": GERMAN_SENSITIVE.get(name),
        "values": values,
        "counts": {
            "favourable": [counts[code, "1"] for code in codes],
            "unfavourable": [counts[code, "2"] for code in codes],
        },
    }


def main() -> None:
    """Write the files."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    if not (data / "codebook.json").is_file():
        print(f"Skipped: {data} has no codebook.json; give the folder that holds the data.")
        return
    for name, spec in examples(data):
        path = EXAMPLES / f"{name}.json"
        write_text(path, dump_model(spec))
        print(path)


if __name__ == "__main__":
    main()
