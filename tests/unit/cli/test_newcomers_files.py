"""Files and options as newcomers write them: each message says what to write instead."""

from __future__ import annotations

import pytest

from liptest.cli.data_options import DomainOptions
from liptest.cli.frame_columns import column_kind
from liptest.cli.loading import load_object
from liptest.errors import ConfigError, InputError
from liptest.privacy.proofs.unanswered import never_answered


def test_code_that_changes_its_dataset_is_told_to_copy_it():
    said = str(never_answered("count", "ValueError: 'assignment destination is read-only'"))
    assert "data = data.copy()" in said


@pytest.mark.parametrize(
    ("name", "told"),
    [("sun", "Did you mean .sum?"), ("groupby", "--columns"), ("map", "--columns")],
)
def test_what_an_array_does_not_have_is_a_typo_or_of_frames(name, told):
    first = f"AttributeError: \"'numpy.ndarray' object has no attribute '{name}'\""
    said = str(never_answered("count", first))
    assert told in said
    assert ("Did you mean" in said) is (name == "sun")


@pytest.mark.parametrize("in_package", [False, True])
def test_the_advice_on_a_relative_import_works(in_package, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.py").write_text("from .other import count\n")
    if in_package:
        (tmp_path / "__init__.py").touch()
    wanted = f"{tmp_path.name}.wrong:.." if in_package else "without the dot"
    with pytest.raises(InputError) as caught:
        load_object("wrong.py:count")
    assert wanted in str(caught.value)


@pytest.mark.parametrize("said", ["0-120", "0:120", "[0, 120]"])
def test_a_range_in_other_words_is_written_out(said):
    with pytest.raises(ConfigError, match=r"write 0\.\.120$"):
        column_kind("age", said)


def test_records_of_one_value_have_no_neighbours():
    with pytest.raises(InputError, match="values=1 must be a whole number of at least 2"):
        DomainOptions(dimension=50, values=1).build()
