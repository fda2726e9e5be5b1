"""Upper bounds on divergence and probability below a node, in floats rounded outwards.

They serve to leave out what can't matter; what remains is settled exactly.

Write ``u = P(d, y)``, ``v = P(d̄, y)``, ``γ = ln u/v``. Disclosing more lowers u and v and keeps γ within what
the remaining attributes can reach. A score that is homogeneous of degree one in (u, v) for fixed x, as
divergence and probability are, is ``u U(γ) = v V(γ)`` with U its value at ``(1, e^-γ)`` and V at ``(e^γ,
1)``, so every extension scores at most

    max( u max_{t in [γ, γ_high]} U(t),  v max_{t in [γ_low, γ]} V(t) ).

γ doesn't move for free either (`Moves`): an extension that raises γ to t has at most ``u e^(-r (t - γ))``
left of u, and likewise v. So U and V are taken with that decay.

U and V are bounded from above on cells of γ. For fixed γ and ``f = P(x | y)`` the divergence of its own part,
``kl(a ‖ a')``, grows with |s| and with f: so one cell of γ and of s bounds all extensions of x at once.
"""

from __future__ import annotations

from math import inf

import numpy as np

from auditor.search.additive.combinations import Xs
from auditor.search.additive.log_odds import Floats, Integers, population_of
from auditor.search.additive.tree import (
    STEEPEST,
    Nodes,
    Slots,
    Tree,
    kl,
    logistic,
    moved,
    safe_log,
)
from auditor.search.criteria import LOST

#: How much of U's or V's decay, in natural logarithms, a cell may hold.
_STEEP = 0.5
#: Cells of γ with which roots are first bounded; cells of s, and of γ, for extensions of x.
_COARSE, _STRENGTHS, _CONTEXTS = 16, 4, 4
#: Cells of γ of an opened root; of so many attributes most move γ so little that it takes more.
_FINE, _FINER, _MANY = 256, 1024, 100
#: Roots bounded in one block.
_BLOCK = 1 << 12


class Bounds:
    """Upper bounds of a score, as natural logarithms; for divergence, or else for probability."""

    def __init__(self, tree: Tree, *, divergence: bool) -> None:
        self._tree, self._divergence = tree, divergence
        self._threshold = float(tree.criterion.threshold)
        log_u, log_v = population_of(tree.tables).log_prior
        self._log_u, self._log_v, self._gamma = log_u, log_v, tree.tables.prior * tree.unit
        moves = tree.columns.moves
        self._rise, self._fall = (min(float(rate[0]), STEEPEST) for rate in (moves.rise, moves.fall))
        self._grids = _Grids(self)

    def of_roots(self, slots: Slots) -> Floats:
        """At least the score of any pattern of x, from a coarse grid."""
        bounds = [np.empty(0)]
        for start in range(0, len(slots), _BLOCK):
            block = slots[start : start + _BLOCK]
            edges = _edges(block.low, block.high, _COARSE)
            bounds.append(self._over_cells(_wide(block), edges[:, :-1], edges[:, 1:], exact_share=True))
        return np.concatenate(bounds)

    def of_extensions(self, xs: Xs) -> Floats:
        """At least the score of any pattern of any extension of x."""
        bounds = [np.empty(0)]
        for start in range(0, len(xs), _BLOCK):
            bounds.append(self._of_extensions(xs[start : start + _BLOCK]).max(axis=0))
        return np.concatenate(bounds)

    def _of_extensions(self, xs: Xs) -> Floats:
        """`of_extensions` of those with s > 0, and of those with s < 0: shape (2, x).

        An extension whose s is g beyond that of x costs ``e^-c(g)`` of ``P(x | d)`` for s > 0, of ``P(x |
        d̄)`` for s < 0.
        """
        tree, moves, position = self._tree, self._tree.xs.moves, xs.position
        sign = np.array([[1.0], [-1.0]])
        own = sign * xs.strength
        least = np.array([moves.finite_least[position], -moves.finite_most[position]])
        most = np.array([moves.finite_most[position], -moves.finite_least[position]])
        rate = np.array([moves.rise[position], moves.fall[position]])
        pinned = np.isinf([moves.most[position], moves.least[position]])
        favoured = np.array([xs.log_a, xs.log_b])
        fixed = np.isinf(own)
        base = np.where(fixed, 0.0, own)
        start = np.maximum(base + least, 0.0)
        top = np.maximum(base + most, 0.0)
        edges = _edges(start, top, _STRENGTHS)
        lower = np.concatenate([edges[..., :-1], np.zeros((*own.shape, 1))], axis=-1)
        upper = np.concatenate([edges[..., 1:], np.where(pinned, inf, 0.0)[..., None]], axis=-1)
        cost = np.maximum(lower - base[..., None] - tree.wider, 0) * np.minimum(rate, STEEPEST)[..., None]
        lower = np.where(fixed[..., None], np.where(own > 0, inf, 0.0)[..., None], lower)
        upper = np.where(fixed[..., None], np.where(own > 0, inf, 0.0)[..., None], upper)
        cost = np.where(fixed[..., None], 0.0, cost)
        favoured_left = favoured[..., None] - cost
        other_left = np.minimum(favoured[::-1, :, None], favoured_left - lower + tree.wider)
        strength = sign[..., None] * (upper + tree.error)
        low, high = tree.interval(strength)
        low = np.maximum(low, (self._tree.tables.reals(xs.low) - tree.wider)[:, None])
        high = np.minimum(high, (self._tree.tables.reals(xs.high) + tree.wider)[:, None])
        log_a = np.array([favoured_left[0], other_left[1]])
        log_b = np.array([other_left[0], favoured_left[1]])
        slots = Slots(
            strength=strength[..., None],
            log_a=log_a[..., None],
            log_b=log_b[..., None],
            rest_a=-np.expm1(xs.log_a)[:, None, None],
            rest_b=-np.expm1(xs.log_b)[:, None, None],
            low=low[..., None],
            high=high[..., None],
        )
        t = _edges(low, high, _CONTEXTS)
        bounds = self._over_cells(slots, t[..., :-1], t[..., 1:], exact_share=False)
        result: Floats = bounds.max(axis=-1)
        return result

    def _over_cells(self, slots: Slots, t0: Floats, t1: Floats, *, exact_share: bool) -> Floats:
        """The greatest bound of any cell, for contexts that start from nothing disclosed."""
        log_u, log_v = self.cells(slots, t0, t1, exact_share=exact_share)
        log_u = log_u + self._log_u - self._rise * np.maximum(t0 - self._gamma - self._tree.wider, 0)
        log_v = log_v + self._log_v - self._fall * np.maximum(self._gamma - t1 - self._tree.wider, 0)
        best = np.where(slots.low <= slots.high, np.minimum(log_u, log_v), -inf)
        result: Floats = best.max(axis=-1)
        return result

    def cells(self, slots: Slots, t0: Floats, t1: Floats, *, exact_share: bool) -> tuple[Floats, Floats]:
        """``ln U`` and ``ln V`` on cells of γ from above.

        |degree| is taken at its peak or better end and ``P(x | y)`` at an end; the probability of the
        decision that x favours lies between its values at the ends, and the nearest fair one is no lower than

        * the lower end less the greatest excess,
        * that decision's probability given y without x, where disclosing x would change nothing,
        * `Criterion.least_target`.

        kl grows in its first argument and falls in its second below it, and P(xy) is monotone in t.

        Parameters
        ----------
        slots : Slots
            Of shapes that broadcast with the cells.
        t0, t1 : array
            The ends of the cells.
        exact_share : bool
            Whether ``P(x | d)`` and ``P(x | d̄)`` are those of x, and no bounds on those of extensions.
        """
        criterion, strength = self._tree.criterion, slots.strength
        degree = self._tree.largest_degree(strength, t0, t1)
        log_kl = np.zeros_like(degree)
        if self._divergence:
            positive = strength > 0
            lower, upper = np.where(positive, t0, t1), np.where(positive, t1, t0)
            p, not_p = moved(strength, upper)
            beyond = np.maximum(degree - self._threshold, 0)
            rest = np.minimum(_rest(slots, t0), _rest(slots, t1))
            excess = p - moved(strength, lower)[0] + criterion.excess(strength, t1, beyond, rest, most=True)
            if exact_share:
                with np.errstate(invalid="ignore"):
                    log_rest = _log_rest(slots.rest_a) - _log_rest(slots.rest_b)
                # Not a number where P(x) = 1 under both decisions: then it bounds nothing.
                excess = np.fmin(
                    excess, p - logistic(np.where(positive, lower + log_rest, -lower - log_rest))
                )
            excess = np.minimum(excess, p - criterion.least_target)
            log_kl = safe_log(kl(p, not_p, np.clip(excess * (1 + 1e-12) + 1e-15, 0, p)))
        log_kl = np.where(degree > self._threshold, log_kl + self._tree.rounding, -inf)
        return (
            _product(np.logaddexp(slots.log_a, slots.log_b - t0), log_kl),
            _product(np.logaddexp(slots.log_a + t1, slots.log_b), log_kl),
        )

    def open(self, first: int) -> None:
        """Grid the roots that were opened from a slot on."""
        self._grids.add(first)

    def of_nodes(self, nodes: Nodes) -> Floats:
        """At least the score of any pattern below each node of an opened root."""
        return self._grids.bound(nodes)


def _product(log_p: Floats, log_kl: Floats) -> Floats:
    """Logarithm of a product in which a probability of 0 makes 0 of an infinite divergence."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(log_p), -inf, log_p + log_kl)


def _log_rest(rest: Floats) -> Floats:
    """Its logarithm; ``-inf`` where floats lose digits, which makes the target of x lower."""
    return safe_log(np.where(rest < LOST, 0, rest))


def _rest(slots: Slots, t: Floats) -> Floats:
    """``1 - P(x | y)`` at γ = t."""
    return slots.rest_a * logistic(t) + slots.rest_b * logistic(-t)


def _wide(slots: Slots) -> Slots:
    return slots[:, None]


def _edges(low: Floats, high: Floats, cells: int) -> Floats:
    """The edges of equal cells, along a new last axis; of no width where low > high."""
    some = low <= high
    low, high = np.where(some, low, 0.0), np.where(some, high, 0.0)
    edges: Floats = low[..., None] + (high - low)[..., None] * (np.arange(cells + 1) / cells)
    return edges


class _Grids:
    """Fine grids of the opened roots, with the range maxima of U and V in a sparse table.

    Arrays begin with an axis for the two of them, and one for the roots.
    """

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        cells = self._cells = _FINE if len(bounds._tree.tables.values) <= _MANY else _FINER
        self._own = np.empty((2, 0, cells))
        self._decay = np.empty((2, 0))
        self._maxima = np.empty((2, 0, cells.bit_length(), cells))

    def add(self, first: int) -> None:
        """Grid the roots that were opened from a slot on."""
        bounds, roots = self._bounds, self._bounds._tree.roots
        chosen, stop, cells = roots[first:], len(roots), self._cells
        if stop > self._own.shape[1]:
            more = stop + self._own.shape[1]
            for name in ("_own", "_decay", "_maxima"):
                array = getattr(self, name)
                room = np.empty((2, more - array.shape[1], *array.shape[2:]))
                setattr(self, name, np.concatenate([array, room], axis=1))
        edges = _edges(chosen.low, chosen.high, cells)
        own = np.array(bounds.cells(_wide(chosen), edges[:, :-1], edges[:, 1:], exact_share=True))
        # A smaller decay is right too; one that is steep within a cell, or in floats, would loosen the bound.
        with np.errstate(divide="ignore"):
            most = np.minimum(_STEEP * cells / np.maximum(chosen.high - chosen.low, 1e-300), STEEPEST)
        decay = np.minimum(most, [[bounds._rise], [bounds._fall]])
        self._own[:, first:stop], self._decay[:, first:stop] = own, decay
        self._maxima[:, first:stop] = _range_maxima(
            own - decay[..., None] * np.array([edges[:, :-1], -edges[:, 1:]])
        )

    def bound(self, nodes: Nodes) -> Floats:
        """`Bounds.of_nodes`."""
        t_low, t, t_high = self._bounds._tree.reach(nodes)
        row, both = nodes.slot, np.array([[0], [1]])
        first, last = self._cells_of(row, np.array([t, t_low]), np.array([t_high, t]))
        some = first <= last
        # In the cell of γ itself without decay, which within it would only add the cell's width.
        own = np.array([np.minimum(first[0], self._cells - 1), np.maximum(last[1], 0)])
        first[0] += 1
        last[1] -= 1
        others = self._decay[:, row] * np.array([t, -t]) + self._range_max(both, row, first, last)
        best = np.where(some, np.maximum(others, self._own[both, row, own]), -inf)
        result: Floats = (np.array([nodes.log_u, nodes.log_v]) + best).max(axis=0)
        return result

    def _cells_of(self, slots: Integers, start: Floats, stop: Floats) -> tuple[Integers, Integers]:
        """The first and the last cell that meet ``[start, stop]``; the first is greater where none does."""
        roots = self._bounds._tree.roots
        low, high = roots.low[slots], roots.high[slots]
        scale = self._cells / np.maximum(high - low, 1e-300)
        # An interval that ends on an edge, to within rounding, meets the cells on both sides.
        first = np.floor(np.clip((start - low) * scale - 1e-6, 0, self._cells - 1)).astype(np.int64)
        last = np.floor(np.clip((stop - low) * scale + 1e-6, 0, self._cells - 1)).astype(np.int64)
        missed = (
            (stop < low - self._bounds._tree.wider) | (start > high + self._bounds._tree.wider) | (low > high)
        )
        return np.where(missed, 1, first), np.where(missed, 0, last)

    def _range_max(self, side: Integers, row: Integers, first: Integers, last: Integers) -> Floats:
        """Maximum over the cells from first to last; ``-inf`` where there are none."""
        some = first <= last
        first, last = np.where(some, first, 0), np.where(some, last, 0)
        level = np.frexp(last - first + 1)[1] - 1
        maximum = np.maximum(
            self._maxima[side, row, level, first], self._maxima[side, row, level, last - (1 << level) + 1]
        )
        return np.where(some, maximum, -inf)


def _range_maxima(own: Floats) -> Floats:
    """Level j at cell i holds the maximum over the ``2^j`` cells from i on."""
    cells = own.shape[-1]
    table = np.full((*own.shape[:-1], cells.bit_length(), cells), -inf)
    table[..., 0, :] = own
    for level in range(1, cells.bit_length()):
        half = 1 << (level - 1)
        length = cells - 2 * half + 1
        table[..., level, :length] = np.maximum(
            table[..., level - 1, :length], table[..., level - 1, half : half + length]
        )
    return table
