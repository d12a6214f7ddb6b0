"""The catalogue of rules: what the comments of the rule files say, and that none is missing."""

from __future__ import annotations

import re

import pytest

from equiforge.egraph.catalogue import catalogue, read_catalogue
from equiforge.egraph.engine import RULE_FILES, rule_names, rule_text
from equiforge.egraph.rule_syntax import read_forms, write
from equiforge.errors import EquiforgeError

RULE = '(rule ((= x (Unary o a))) ((union x a)) :ruleset algebra :name "r")'


def test_the_catalogue_has_every_rule() -> None:
    assert tuple(rule.name for rule in catalogue().rules) == rule_names()
    assert len(set(rule_names())) == len(rule_names())


@pytest.mark.parametrize("file", RULE_FILES)
def test_the_reader_reads_what_is_written(file: str) -> None:
    without_comments = re.sub(r'("[^"]*")|;[^\n]*', r"\1", rule_text(file))
    assert " ".join(write(form) for form in read_forms(rule_text(file))).split() == (
        re.sub(r"\s+(?=\))|(?<=\()\s+", "", " ".join(without_comments.split())).split()
    )


def test_a_comment_documents_the_rules_that_follow() -> None:
    other = RULE.replace('"r"', '"s"')
    text = f"; 3. a = b,\n; for all a\n; if: a > 0\n; why: it does\n{RULE}\n{other}\n"
    first, second = read_catalogue({"algebra": text}).rules
    assert (first.number, first.statement, first.condition, first.reason) == (3, "a = b, for all a", "a > 0", "it does")
    assert (second.name, second.statement, second.line) == ("s", "a = b, for all a", 6)


def test_refused_directions_are_collected() -> None:
    text = f"; refused: b = a because it\n; overflows\n\n; a = b\n; why: so\n{RULE}"
    (refused,) = read_catalogue({"algebra": text}).refused
    assert (refused.family, refused.equality, refused.reason) == ("algebra", "b = a", "it overflows")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RULE, "algebra.egg:1: rule r has no statement"),
        (f"; why: so\n{RULE}", "algebra.egg:2: rule r has no statement"),
        (f"; a = b\n{RULE}", "algebra.egg:2: rule r has no reason"),
        (f"; a = b\n; why: so\n\n{RULE}", "algebra.egg:4: rule r has no statement"),
        (f"; a = b\n; why: so\n{RULE.replace(':name', ':called')}", "algebra.egg:3: a rule needs :ruleset and :name"),
        (f"; a = b\n; why: so\n; refused: b = a\n{RULE}", "a refused direction without a reason: b = a"),
        ("; a\n(rule (", "line 2: a form that is not closed"),
        ("x)", "line 1: x outside of a form"),
        ("\n)", "line 2: a closing bracket too many"),
    ],
)
def test_what_is_missing_is_named(text: str, message: str) -> None:
    with pytest.raises(EquiforgeError, match=re.escape(message)):
        read_catalogue({"algebra": text})
