"""Files that the libraries themselves have made give the probabilities that the libraries predict."""

from __future__ import annotations

import pandas as pd
import pytest

from auditor.data.shares import with_shares
from auditor.data.tables import open_table
from auditor.errors import InputError
from tests.scorecard_files import CARDS, PEOPLE, SCALE, bad, imported, people_of, said, with_special_cells


@pytest.mark.parametrize("card", CARDS)
def test_a_real_table_has_the_probabilities_of_its_library(card: str) -> None:
    file, scale = CARDS[card]
    spec = with_special_cells(imported(file, scale))
    assert bad(spec, people_of(file)) == pytest.approx(said(file)["bad"], abs=1e-12)


def test_skorecard_mixes_bins_and_weights_up_which_is_refused() -> None:
    with pytest.raises(InputError, match="has a row without a bin"):
        imported("skorecard.mixed.csv")


@pytest.mark.parametrize("card", CARDS)
def test_shares_are_those_of_the_people(card: str) -> None:
    file, scale = CARDS[card]
    rows = people_of(file)
    frame = open_table(pd.DataFrame(rows))
    spec = with_shares(with_special_cells(imported(file, scale)), frame)
    gaps = {a.name: sum(not row[a.name] for row in rows) for a in spec.attributes}
    for attribute in spec.attributes:
        shares = {v.value: v.share for v in attribute.values if v.share is not None}
        assert sum(shares.values()) == pytest.approx(1)
        if missing := [v.share for v in attribute.values if v.bin == "missing"]:
            assert [float(share or 0) for share in missing] == [pytest.approx(gaps[attribute.name] / 300)]
    if file.startswith(("optbinning", "interpret")):
        # The card has the shares of the same people.
        own = [[v.share for v in a.values] for a in imported(file, scale).attributes]
        assert [[v.share for v in a.values] for a in spec.attributes] == own
    (income,) = (a for a in spec.attributes if a.name == "income")
    codes = sum(row["income"] == "-1" for row in rows) / 300
    assert [float(v.share or 0) for v in income.values if v.bin == "special"] in ([], [pytest.approx(codes)])


def test_special_cells_that_nothing_names_are_refused() -> None:
    with pytest.raises(InputError, match='income": nothing says which numbers belong to the bin "Special"'):
        with_shares(imported("optbinning.csv"), open_table(pd.DataFrame(PEOPLE)))


def test_categories_that_commas_have_parted_are_not_taken_for_others() -> None:
    with pytest.raises(InputError, match='home" has "own, mortgaged", for which the scorecard has no value'):
        with_shares(imported("toad.csv", SCALE), open_table(pd.DataFrame(PEOPLE)))
