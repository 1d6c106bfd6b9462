"""What a jail shows of a folder."""

from pathlib import Path

from liptest.runs.shown_code import code_files


def test_a_link_with_the_name_of_code_shows_no_data(tmp_path: Path) -> None:
    (tmp_path / "private.csv").write_text("1\n", encoding="utf-8")
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "own.py").write_text("", encoding="utf-8")
    (folder / "same.py").symlink_to(folder / "own.py")
    (folder / "data.py").symlink_to(tmp_path / "private.csv")
    (folder / "gone.py").symlink_to(folder / "nowhere")
    assert code_files(folder) == [folder / "own.py", folder / "same.py"]
