"""The bounds of a search for the largest |degree| among what is probable enough, against all pairs."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.choices import CriterionName
from auditor.search.additive.combinations import ANY
from auditor.search.additive.ranking import _Search
from auditor.search.additive.tables import tables_of
from auditor.search.criteria import CRITERIA
from auditor.search.limits import DEFAULT
from tests.fuzzing import examples
from tests.oracle import BruteForce, PlainModel
from tests.search.comparing import naive_bayes
from tests.strategies import FAMILIES, Family, near, plain_models


@pytest.mark.hypothesis
@pytest.mark.parametrize("criterion", get_args(CriterionName))
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_no_pair_is_above_the_bounds_of_its_x(family: Family, criterion: CriterionName) -> None:
    @examples(20)
    @given(plain_models(family), st.data())
    def agree(model: PlainModel, data: st.DataObject) -> None:
        pairs = BruteForce(model, criterion).pairs
        usual = [Fraction(1, n) for n in (10, 100, 1000)]
        least = data.draw(near(usual, sorted({pair.probability for pair in pairs})).filter(bool))
        tables, rule = tables_of(naive_bayes(model)), CRITERIA[criterion](Fraction(0))
        search = _Search(tables, rule, "discrimination", least, False, ANY, DEFAULT)
        combinations = search._tree.xs
        xs = combinations.at(np.append(0, combinations.grow()))
        place = {i: at for at, i in enumerate(combinations.order)}
        of_contexts = np.exp(search._bound_contexts(xs, search._tree.slots(xs)))
        of_extensions = [search._degree_of_extensions(xs, halvings) for halvings in (0, 1, 6)]
        # In the tree's order of attributes: extensions of an x are those that begin with it, and x alone.
        number = {
            tuple(sorted(combinations.assignment(*at), key=lambda z: place[z[0]])): n
            for n, at in enumerate(zip(xs.parent.tolist(), xs.column.tolist(), strict=True))
        }
        for pair in pairs:
            if pair.probability < least:
                continue
            x, size = tuple(sorted(pair.x, key=lambda z: place[z[0]])), float(pair.size) * (1 - 1e-12)
            assert x not in number or of_contexts[number[x]] >= size
            for shown in range(len(x)):
                if x[:shown] in number:
                    assert all(bounds[number[x[:shown]]] >= size for bounds in of_extensions)

    agree()
