"""No part of a path in a volume is a link, whoever has put it there and whenever."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.settings import Settings
from lakehold.lake.folder_handle import open_folder
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.volumes import INTERNAL_FOLDER, Volume

PATH = "a/b/c.csv"


@pytest.fixture
def volume(tmp_path: Path) -> Volume:
    made = Volume(Settings(data=tmp_path / "data"), TableIdentifier(1, 7))
    store(made, PATH, b"inside")
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Return a folder with the same names as in the volume."""
    folder = tmp_path / "outside"
    (folder / "a/b").mkdir(parents=True)
    (folder / "b").mkdir()
    for name in ("a/b/c.csv", "b/c.csv", "c.csv"):
        (folder / name).write_bytes(b"secret")
    return folder


def content(volume: Volume, path: str) -> bytes:
    with volume.open_file(path) as file:
        return file.read()


def store(volume: Volume, path: str, content: bytes, *, replace: bool = False) -> None:
    with volume.open_partial() as partial:
        partial.write(content)
        volume.publish(partial, path, replace=replace)


def swap(here: Path, target: Path) -> None:
    """Put a link where something is."""
    here.rename(here.with_name(f"{here.name}.was"))
    here.symlink_to(target)


def parts_of(volume: Volume, outside: Path) -> dict[str, tuple[Path, Path]]:
    """Return every part of the path, and what a link in its place shows."""
    inside = volume.folder
    return {
        "tenant": (inside.parent, outside),
        "volume": (inside, outside),
        "first folder": (inside / "a", outside / "a"),
        "second folder": (inside / "a/b", outside / "b"),
        "file": (inside / PATH, outside / "c.csv"),
        "dangling": (inside / "a/b", outside / "nothing"),
        "itself": (inside / "a", Path("a")),
    }


PARTS = ("tenant", "volume", "first folder", "second folder", "file", "dangling", "itself")


@pytest.mark.parametrize("part", PARTS)
def test_a_link_at_any_part_of_a_path_leads_nowhere(volume: Volume, outside: Path, part: str) -> None:
    swap(*parts_of(volume, outside)[part])
    before = {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()}
    for read in (volume.get_file, volume.open_file, volume.path_on_disk, volume.remove):
        with pytest.raises(NotFoundError):
            read(PATH)
    assert not volume.exists(PATH)
    if part == "file":
        assert [file.path for file in volume.list_folder("a/b")] == ["a/b/c.csv.was"]
    else:
        with pytest.raises(NotFoundError):
            volume.list_folder("a/b")
    if part != "file":
        for replace in (False, True):
            with pytest.raises(LakeholdError):
                store(volume, PATH, b"written", replace=replace)
    volume.delete()
    assert {file: file.read_bytes() for file in outside.rglob("*") if file.is_file()} == before


def test_an_upload_replaces_a_link_itself(volume: Volume, outside: Path) -> None:
    swap(volume.folder / PATH, outside / "c.csv")
    with pytest.raises(LakeholdError, match="already"):
        store(volume, PATH, b"new")
    store(volume, PATH, b"new", replace=True)
    assert content(volume, PATH) == b"new"
    assert (outside / "c.csv").read_bytes() == b"secret"


def test_the_platforms_own_folder_may_be_no_link(volume: Volume, outside: Path) -> None:
    (volume.folder / INTERNAL_FOLDER).rmdir()
    (volume.folder / INTERNAL_FOLDER).symlink_to(outside)
    with pytest.raises(LakeholdError), volume.open_partial():
        pytest.fail("opened")
    assert not [file for file in outside.iterdir() if file.name.startswith("arriving")]


def test_a_folder_of_links_lists_none_of_them(volume: Volume, outside: Path) -> None:
    for name, target in (("file", outside / "c.csv"), ("folder", outside), ("dangling", outside / "nothing")):
        (volume.folder / name).symlink_to(target)
    assert [file.path for file in volume.list_folder()] == ["a"]


def test_what_is_no_file_is_not_waited_for(volume: Volume) -> None:
    os.mkfifo(volume.folder / "pipe")
    with pytest.raises(NotFoundError):
        volume.open_file("pipe")


def when_opened(monkeypatch: pytest.MonkeyPatch, part: str, do: Callable[[], None]) -> None:
    """Do something once, between the opening of a part of a path and the next step."""
    opened, done = os.open, list[str]()

    def open_(name: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        found = opened(name, flags, mode, dir_fd=dir_fd)
        if name == part and not done:
            done.append(name)
            do()
        return found

    monkeypatch.setattr(os, "open", open_)


@pytest.mark.parametrize("part", ["a", "b"])
def test_a_folder_that_is_swapped_while_a_path_is_walked_is_not_followed(
    monkeypatch: pytest.MonkeyPatch, volume: Volume, outside: Path, part: str
) -> None:
    here = {"a": (volume.folder / "a", outside / "a"), "b": (volume.folder / "a/b", outside / "b")}[part]
    when_opened(monkeypatch, part, lambda: swap(*here))
    # The folder that was opened is still the one that was there.
    assert content(volume, PATH) == b"inside"


def test_a_folder_that_is_swapped_before_the_next_step_is_refused(
    monkeypatch: pytest.MonkeyPatch, volume: Volume, outside: Path
) -> None:
    when_opened(monkeypatch, "a", lambda: swap(volume.folder / "a/b", outside / "b"))
    with pytest.raises(NotFoundError):
        volume.open_file(PATH)


def test_what_is_swapped_between_check_and_publication_is_not_written_through(
    monkeypatch: pytest.MonkeyPatch, volume: Volume, outside: Path
) -> None:
    with volume.open_partial() as partial:
        partial.write(b"new")
        volume.refuse_name("a/b/new.csv", replace=False)
        when_opened(monkeypatch, "b", lambda: swap(volume.folder / "a", outside / "a"))
        with pytest.raises(LakeholdError):
            volume.publish(partial, "a/b/new.csv", replace=False)
    assert sorted(file.name for file in outside.rglob("*.csv")) == ["c.csv"] * 3
    assert not (volume.folder / "a.was/b/new.csv").exists()


def test_an_open_file_stays_what_it_was(volume: Volume, outside: Path) -> None:
    with volume.open_file(PATH) as file:
        swap(volume.folder / PATH, outside / "c.csv")
        assert file.read() == b"inside"


def test_a_part_is_a_name(tmp_path: Path) -> None:
    for part in ("..", ".", "", "a/b"):
        with pytest.raises(NotADirectoryError), open_folder(tmp_path, [part]):
            pytest.fail("opened")
