"""Numbers of others, with their source; none of them is used to compute ours.

Source of what is printed: Choi, Farnadi, Babaki and Van den Broeck, *Learning Fair Naive Bayes Classifiers by
Discovering and Eliminating Discrimination Patterns*, AAAI 2020 (the tables and footnotes; figures have no
numbers). The nodes are those of the code released with it, counted as calls of its search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DELTAS = ("0.01", "0.05", "0.1")
KS = (1, 10, 100)
RANKINGS = ("divergence", "discrimination")

#: Rows by k, columns by δ.
Table = Mapping[int, Sequence[float]]


def _every(values: Mapping[int, float]) -> Table:
    """The same at every δ."""
    return {k: (value, value, value) for k, value in values.items()}


#: Sensitive and other attributes as printed.
SIZES = {"compas": (4, 3), "adult": (4, 9), "german": (4, 16)}

#: Table 1: share of the search space explored.
SHARES: Mapping[str, Mapping[str, Table]] = {
    "compas": {
        "divergence": {
            1: (6.387e-01, 5.634e-01, 3.874e-01),
            10: (7.139e-01, 5.996e-01, 4.200e-01),
            100: (8.222e-01, 6.605e-01, 4.335e-01),
        },
        "discrimination": _every({1: 8.188e-03, 10: 3.464e-02, 100: 9.914e-02}),
    },
    "adult": {
        "divergence": {
            1: (3.052e-06, 7.260e-06, 1.248e-05),
            10: (7.030e-06, 1.154e-05, 1.809e-05),
            100: (1.458e-05, 1.969e-05, 2.509e-05),
        },
        "discrimination": {
            1: (2.451e-04, 2.451e-04, 2.451e-04),
            10: (2.467e-04, 2.467e-04, 2.467e-04),
            100: (2.600e-04, 2.600e-04, 2.597e-04),
        },
    },
    "german": {
        "divergence": {
            1: (5.075e-07, 2.731e-06, 2.374e-06),
            10: (9.312e-07, 3.398e-06, 2.753e-06),
            100: (1.454e-06, 4.495e-06, 3.407e-06),
        },
        "discrimination": _every({1: 7.450e-08, 10: 1.592e-06, 100: 5.897e-06}),
    },
}

#: Nodes of the released code on the right model.
RELEASED: Mapping[str, Mapping[str, Table]] = {
    "compas": {
        "divergence": {1: (4109, 4260, 2767), 10: (5525, 4586, 3112), 100: (6333, 5057, 3345)},
        "discrimination": _every({1: 65, 10: 228, 100: 532}),
    },
    "adult": {
        "divergence": {1: (1179, 2097, 2823), 10: (2053, 2932, 3478), 100: (3059, 3881, 4554)},
        "discrimination": {
            1: (39449, 39449, 39401),
            10: (40299, 40299, 40251),
            100: (44546, 44530, 44406),
        },
    },
    "german": {
        "divergence": {
            1: (7972136, 31420891, 24921518),
            10: (13567070, 39490963, 29624440),
            100: (20617101, 51376563, 37873686),
        },
        "discrimination": _every({1: 73050872, 10: 73065061, 100: 73874453}),
    },
}

#: Nodes of the released code as released, which swaps the prior: those behind the printed shares.
RELEASED_SWAPPED: Mapping[str, Mapping[str, Table]] = {
    "compas": {
        "divergence": {1: (5070, 4472, 3075), 10: (5667, 4760, 3334), 100: (6527, 5243, 3441)},
        "discrimination": _every({1: 65, 10: 275, 100: 787}),
    },
    "adult": {
        "divergence": {1: (478, 1137, 1955), 10: (1101, 1808, 2833), 100: (2284, 3083, 3930)},
        "discrimination": _every({1: 38389, 10: 38634, 100: 40723}),
    },
    "german": {
        "divergence": {
            1: (6270325, 33747464, 29329500),
            10: (11505757, 41980099, 34017106),
            100: (17969849, 55544128, 42097260),
        },
        "discrimination": _every({1: 920587, 10: 19672734, 100: 72863701}),
    },
}

#: The same once the two faults of its divergence bound are repaired, as far as measured.
REPAIRED_SWAPPED: Mapping[str, Mapping[str, Table]] = {
    "adult": {"divergence": {1: (52803, 149142, 281124)}},
    "german": {
        "divergence": {1: (128292926, 275902057, 97557626), 100: (234929108, 454996610, 159328730)},
    },
}

#: COMPAS, δ = 0.1: patterns, then degree and probability of the top by discrimination and by divergence.
COMPAS_PATTERNS = 2695
COMPAS_WORST = (0.42, 0.0002)
COMPAS_DIVERGENT = (0.19, 0.0333)

#: COMPAS, δ = 0.1, one constraint per iteration: constraints until fair.
COMPAS_CONSTRAINTS = 3

#: Log-likelihood: unconstrained, δ-fair (δ = 0.1), independent.
LIKELIHOODS = {
    "compas": (-207055, -207395, -208639),
    "adult": (-226375, -228763, -232180),
    "german": (-12630, -12635, -12649),
}

#: Patterns that remain after data repair, δ = 0.1.
LAMBDAS = ("0.5", "0.9", "0.95", "0.99", "1")
REMAINING = {
    "compas": ("2,504", "2,471", "2,470", "3,069", "0"),
    "adult": ("> 1e6", "661", "652", "605", "0"),
    "german": ("> 1e6", "3", "2", "0", "0"),
}

#: Ten-fold accuracy: unconstrained, two naive Bayes, repaired data (λ = 1), δ-fair (δ = 0.1).
ACCURACIES = {
    "compas": (0.880, 0.875, 0.878, 0.879),
    "adult": (0.811, 0.759, 0.325, 0.827),
    "german": (0.690, 0.679, 0.688, 0.696),
}
