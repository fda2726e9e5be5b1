"""Documents of every kind that a report has to show, made once."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from auditor.certificate.signing import sign
from auditor.choices import CriterionName
from auditor.documents.audit import Audit
from auditor.documents.certificate import Certificate
from auditor.documents.parameters import ExactModel
from auditor.model.naive_bayes import Attribute, NaiveBayes
from auditor.model.reading import load_model
from auditor.model.spec import ModelSpec
from auditor.report.subject import Stated, Subject
from auditor.search.limits import Limits
from auditor.usecases import auditing
from tests.certificate.making import KEY, made

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Everything that a template, a browser or a reader could take for something else than a name.
HOSTILE = (
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    '"><img src=x onerror=alert(1)>',
    "https://evil.example/?q=1",
    "line\nbreak\x1b[31m\u202egnp",
    "javascript:alert(1)",
    "</title></style><base href=//evil.example>",
    "&lt;b&gt; ]]> -->",
)

#: Long names in several scripts, and one that has no place to break.
LONG = (
    "Überdurchschnittlich lange Bezeichnung des Merkmals Nummer {}",
    "Доход домохозяйства за последний отчётный период № {}",
    "Ηλικία του αιτούντος κατά την υποβολή της αίτησης {}",
    "attribute_with_one_unbreakable_identifier_{}_donaudampfschifffahrtsgesellschaft",
)


@cache
def spec(name: str) -> ModelSpec:
    found = load_model(EXAMPLES / f"{name}.json")
    assert isinstance(found, ModelSpec)
    return found


def naive_bayes_in(certificate: Certificate) -> ExactModel:
    """The exact model of a certificate about a naive Bayes model."""
    exact = certificate.model.exact
    assert isinstance(exact, ExactModel)
    return exact


def fairer(model: NaiveBayes, kept: Fraction) -> NaiveBayes:
    """The model with so much of what its sensitive attributes say about the decision."""

    def mixed(row: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
        middle = model.prior * row[0] + (1 - model.prior) * row[1]
        return row[0] * kept + middle * (1 - kept), row[1] * kept + middle * (1 - kept)

    return replace(
        model,
        attributes=tuple(
            replace(a, likelihood=tuple(map(mixed, a.likelihood))) if a.sensitive else a
            for a in model.attributes
        ),
    )


@cache
def audited(name: str, delta: str, criterion: CriterionName = "difference") -> Subject:
    """An example's audit, with its model."""
    return of_audit(
        auditing.audit(spec(name), delta, criterion=criterion, illustrate=True),
        provenance=spec(name).provenance,
    )


def of_audit(found: Audit, **others: Any) -> Subject:
    """The report of an audit, as if it had taken no time."""
    audit = timeless(found)
    return Subject(Stated.of_audit(audit), audit, parameters=audit.parameters, **others)


def timeless(audit: Audit) -> Audit:
    """The audit as if it had taken no time, so that it is the same every time."""
    return audit.model_copy(update={"search": audit.search.model_copy(update={"seconds": 0.0})})


@cache
def certified(kept: str, delta: str = "0.1") -> Subject:
    """A certificate of COMPAS, with a share of what its sensitive attributes say kept."""
    model = fairer(spec("compas").naive_bayes(), Fraction(kept))

    class Fairer(ModelSpec):
        """The specification of COMPAS, meaning that model."""

        def naive_bayes(self) -> NaiveBayes:
            return model

    as_spec = Fairer.model_construct(**dict(spec("compas")))
    people: dict[str, Any] = {"issuer": "Example Bank, Model Risk", "responsible": "Dr. Ada Example"}
    certificate = made(delta, as_spec, date(2026, 11, 20), **people)
    return Subject(
        Stated.of_certificate(certificate),
        timeless(auditing.audit(model, delta, illustrate=True)),
        certificate,
        parameters=naive_bayes_in(certificate),
        provenance=certificate.model.provenance,
        file=sign(certificate, KEY).decode(),
        key_id="9a417cbabf16a8e3d69a28cf000b32ba8dfab008fd2d5297c4a8496fcc5f5b6e",
    )


@cache
def undecided() -> Subject:
    """A certificate that leaves the question open, with the audit that stopped at the same limit."""
    model = spec("german").naive_bayes()
    certificate = made("0.411622501", spec("german"), date(2026, 11, 20), limits=Limits(expired=lambda: True))
    audit = auditing.audit(model, "0.411622501", time_limit=0)
    return Subject(
        Stated.of_certificate(certificate),
        timeless(audit),
        certificate,
        parameters=naive_bayes_in(certificate),
    )


@cache
def one() -> Subject:
    """A model of one attribute."""
    half = Fraction(1, 2)
    likelihood = ((half, Fraction(2, 5)), (half, Fraction(3, 5)))
    model = NaiveBayes("One", "Loan", "Yes", "No", half, (Attribute("Sex", ("F", "M"), True, likelihood),))
    return of_audit(auditing.audit(model, "0.05", illustrate=True))


def named(names: tuple[str, ...], values: tuple[str, ...], attributes: int, sensitive: int) -> NaiveBayes:
    """A model whose names are made from the given ones."""
    random = Random(7)

    def attribute(i: int) -> Attribute:
        p, q = (Fraction(random.randrange(200, 800), 1000) for _ in range(2))
        labels = tuple(f"{values[(i + v) % len(values)]} {v}" for v in range(2))
        name = names[i % len(names)].replace("{}", str(i)) + f" {i}"
        return Attribute(name, labels, i < sensitive, ((p, q), (1 - p, 1 - q)))

    return NaiveBayes(
        f"{names[0]} {names[1]} " * 2,
        names[2],
        values[0],
        values[1],
        Fraction(3, 5),
        tuple(map(attribute, range(attributes))),
    )


@cache
def wide() -> Subject:
    """40 attributes with long names; what can be shown of it in a second."""
    model = named(LONG, tuple(f"ein ziemlich langer Wert, {text}" for text in ("äöü", "значение")), 40, 5)
    audit = auditing.audit(model, "0.3", time_limit=1)
    return replace(of_audit(audit), certificate=_long_certificate(), key_id="9a" * 32)


def _long_certificate() -> Certificate:
    certificate = certified("1").certificate
    assert certificate
    return certificate.model_copy(
        update={
            "issuer": "Ein Institut mit langem Namen, Abteilung für unabhängige Modellvalidierung " * 3,
            "responsible": "Prof. Dr. Dr. h.c. Maximiliane Mustermann-Schmidt von und zu Beispiel " * 3,
            "verdict": "not-delta-fair",
        }
    )


@cache
def hostile() -> Subject:
    """Names that are markup, templates, addresses and control characters."""
    model = named(HOSTILE, HOSTILE, 6, 3)
    return of_audit(auditing.audit(model, "0.05", illustrate=True))
