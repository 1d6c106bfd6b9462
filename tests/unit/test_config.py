"""liptest.toml: keys, defaults, and errors that name the key and the fix."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import liptest as lt
from liptest.cli.config import DistributionModel, DomainModel, read_config

MINIMAL = '[[check]]\nmechanism = "m.py:f"\nepsilon = 1.0\n'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "liptest.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "check: field required"),
        ("check = []\n", "check"),
        ("x = 1\n" + MINIMAL, "x: unknown key"),
        (MINIMAL + "epsylon = 2\n", "check.0.epsylon: unknown key; did you mean 'epsilon'?"),
        ('[[check]]\nmechanism = "m.py:f"\n', "check.0.epsilon: field required"),
        (MINIMAL + 'budget = "many"\n', "check.0.budget"),
        (MINIMAL + '[domain]\nkind = "sphere"\n', "domain.kind"),
        (MINIMAL + "[distribution]\nmarginals = 3\n", "distribution.marginals"),
        ("[[check\n", "it is no TOML"),
    ],
)
def test_schema_errors_name_the_key(tmp_path, text, words):
    with pytest.raises(lt.errors.ConfigError) as caught:
        read_config(written(tmp_path, text))
    assert words in str(caught.value)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(lt.errors.InputError, match="no such file"):
        read_config(tmp_path / "none.toml")


def test_domains():
    assert DomainModel(dimension=3).build() == lt.Hypercube(3)
    assert DomainModel(kind="grid", sizes=[3, 2]).build() == lt.Hypergrid([3, 2])
    assert DomainModel(kind="records", sizes=[3, 2]).build() == lt.RecordGrid([3, 2])
    assert DomainModel().build() is None
    with pytest.raises(lt.errors.ConfigError, match="no sizes"):
        DomainModel(sizes=[2, 2]).build()


def test_given_laws(tmp_path):
    law = DistributionModel(probabilities=[0.1, 0.2]).build(None, tmp_path)
    assert law.probabilities.tolist() == [0.1, 0.2]
    grid = lt.Hypergrid([2, 3])
    law = DistributionModel(marginals=[[0.5, 0.5], [0.2, 0.3, 0.5]]).build(grid, tmp_path)
    assert law.marginal(1).tolist() == [0.2, 0.3, 0.5]
    assert DistributionModel(uniform=True).build(grid, tmp_path).domain == grid


def test_fitted_laws_with_and_without_groups(tmp_path):
    (tmp_path / "t.csv").write_text("click,item\n1,a\n0,a\n0,b\n0,b\n0,c\n")
    plain = DistributionModel(table=Path("t.csv"), column="click").build(lt.Hypercube(2), tmp_path)
    np.testing.assert_allclose(plain.probabilities, 0.2)
    grouped = DistributionModel(
        table=Path("t.csv"), column="click", group="item", rows="0:4", record_rows="3:"
    ).build(None, tmp_path)
    # item b: (0 + 10/4) / 12; item c has no public record in rows 0-3: the overall rate 1/4.
    np.testing.assert_allclose(grouped.probabilities, [2.5 / 12, 0.25])
    assert "0:4" in grouped.source
