"""A model as PMML 4.4 ``NaiveBayesModel``."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from auditor.model.building import decimal
from auditor.model.intervals import Bins
from auditor.version import __version__

if TYPE_CHECKING:
    from auditor.model.spec import AttributeSpec, ModelSpec, ValueSpec

#: Rows that a model without counts is taken to come from; PMML has counts only, and only ratios matter.
_ROWS = 1_000_000


def to_pmml(model: ModelSpec) -> str:
    """Return the model as a PMML document.

    Counts are the model's own where it has them and doesn't smooth; else they are its probabilities times the
    rows, to 40 digits, since PMML has no smoothing of this kind. Bins are written as ``Discretize``.
    """
    bayes, decision = model.naive_bayes(), model.decision
    counts = decision.counts
    total = Fraction(counts.favourable) + Fraction(counts.unfavourable) if counts else Fraction(_ROWS)
    rows = ((1 - bayes.prior) * total, bayes.prior * total)
    plain = model.repair is None and not model.smoothing
    # The favourable value comes second, where importers that aren't told look for it.
    sides = (decision.unfavourable, decision.favourable)
    bins = [Bins.of([value.value for value in attribute.values]) for attribute in model.attributes]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<PMML version="4.4" xmlns="http://www.dmg.org/PMML-4_4">',
        "  <Header>",
        f'    <Application name="auditor" version={quoteattr(__version__)}/>',
        "  </Header>",
        f'  <DataDictionary numberOfFields="{len(model.attributes) + 1}">',
        *_field(decision.name, sides, None),
    ]
    for attribute, cut in zip(model.attributes, bins, strict=True):
        lines += _field(attribute.name, attribute.values, cut)
    lines += [
        "  </DataDictionary>",
        f'  <NaiveBayesModel modelName={quoteattr(model.name)} functionName="classification" threshold="0">',
        "    <MiningSchema>",
        *(f"      <MiningField name={quoteattr(a.name)}/>" for a in model.attributes),
        f'      <MiningField name={quoteattr(decision.name)} usageType="target"/>',
        "    </MiningSchema>",
        "    <BayesInputs>",
    ]
    for spec, exact, cut in zip(model.attributes, bayes.attributes, bins, strict=True):
        lines.append(f"      <BayesInput fieldName={quoteattr(spec.name)}>")
        lines += _derived(spec, cut) if cut else []
        for v, value in enumerate(spec.values):
            both: tuple[Decimal, Decimal]
            if plain and spec.counts is not None:
                both = spec.counts.unfavourable[v], spec.counts.favourable[v]
            else:
                both = decimal(exact.likelihood[v][1] * rows[0]), decimal(exact.likelihood[v][0] * rows[1])
            code = value.label if cut else value.value
            lines += [
                f"        <PairCounts value={quoteattr(code)}>",
                *_targets(sides, both, "          "),
                "        </PairCounts>",
            ]
        lines.append("      </BayesInput>")
    lines += [
        "    </BayesInputs>",
        f"    <BayesOutput fieldName={quoteattr(decision.name)}>",
        *_targets(sides, (decimal(rows[0]), decimal(rows[1])), "      "),
        "    </BayesOutput>",
        "  </NaiveBayesModel>",
        "</PMML>",
    ]
    return "\n".join(lines) + "\n"


def _field(name: str, values: tuple[ValueSpec, ...], bins: Bins | None) -> list[str]:
    if bins:
        return [f'    <DataField name={quoteattr(name)} optype="continuous" dataType="double"/>']
    return [
        f'    <DataField name={quoteattr(name)} optype="categorical" dataType="string">',
        *(
            f"      <Value value={quoteattr(v.value)}"
            + ("" if v.value == v.label else f" displayValue={quoteattr(v.label)}")
            + "/>"
            for v in values
        ),
        "    </DataField>",
    ]


def _derived(attribute: AttributeSpec, bins: Bins) -> list[str]:
    ends = [None, *bins.edges, None]
    closure = "closedOpen" if bins.closed == "left" else "openClosed"
    lines = [
        f'        <DerivedField name={quoteattr(attribute.name + " in bins")} optype="categorical" '
        'dataType="string">',
        f"          <Discretize field={quoteattr(attribute.name)}>",
    ]
    for value, low, high in zip(attribute.values, ends, ends[1:], strict=False):
        margins = ("" if low is None else f' leftMargin="{low}"') + (
            "" if high is None else f' rightMargin="{high}"'
        )
        lines += [
            f"            <DiscretizeBin binValue={quoteattr(value.label)}>",
            f'              <Interval closure="{closure}"{margins}/>',
            "            </DiscretizeBin>",
        ]
    return [*lines, "          </Discretize>", "        </DerivedField>"]


def _targets(sides: tuple[ValueSpec, ...], counts: tuple[Decimal, Decimal], margin: str) -> list[str]:
    return [
        f"{margin}<TargetValueCounts>",
        *(
            f'{margin}  <TargetValueCount value={quoteattr(side.value)} count="{count}"/>'
            for side, count in zip(sides, counts, strict=True)
        ),
        f"{margin}</TargetValueCounts>",
    ]
