"""Files of volumes over HTTP: put by editors, read by viewers, and nothing outside of the volume is ever reached."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.volumes import Volume
from lakehold.ledger.audit import AuditFilter
from tests.api.client import Api, json_body, problem, serve_api
from tests.demo_company import TENANT, DemoPlatform, as_member

FILES = "/api/v1/volumes/clean_files/files"


@pytest.fixture
def api(corner: DemoPlatform) -> Iterator[Api]:
    with serve_api(corner, TENANT) as found:
        yield found


def put(api: Api, path: str, content: bytes = b"id\n1\n", by: str = "erik", query: str = "") -> int:
    return api.call("PUT", f"{FILES}/{path}{query}", by, content=content).status_code


def paths(api: Api, folder: str = "", by: str = "ana") -> list[str]:
    found = json_body(api.get(FILES, by, params={"folder": folder}))
    return [file["path"] for file in found["items"]]


def folder_of(corner: DemoPlatform) -> Path:
    with corner.read(as_member("olga")) as ctx:
        place = TableIdentifier(ctx.session.tenant, ctx.view.resource("clean_files"))
    return Volume(corner.settings, place).folder


def deeds(corner: DemoPlatform) -> list[str]:
    return [line.entry.action for line in corner.log() if line.entry.action.endswith("file")]


@pytest.mark.flow
def test_an_editor_puts_a_file_and_a_viewer_reads_it(api: Api, corner: DemoPlatform) -> None:
    made = json_body(api.call("PUT", f"{FILES}/2031/Ürders.csv", "erik", content=b"id\n1\n"), 201)
    assert (made["path"], made["bytes"], made["folder"]) == ("2031/Ürders.csv", 5, False)
    assert paths(api) == ["2031"]
    assert paths(api, "2031") == ["2031/Ürders.csv"]
    found = api.get(f"{FILES}/2031/Ürders.csv", "ana")
    assert (found.status_code, found.content) == (200, b"id\n1\n")
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"].startswith("attachment")
    assert deeds(corner) == ["put file"]


def test_a_download_is_in_the_audit_log_of_reads(api: Api, corner: DemoPlatform) -> None:
    assert put(api, "2031/a.csv") == 201
    paths(api)
    assert api.get(f"{FILES}/2031/a.csv", "ana").status_code == 200
    problem(api.get(f"{FILES}/b.csv", "ana"), 404, "not_found")
    corner.reads.flush()
    with corner.read(as_member("olga")) as ctx:
        (line,) = ctx.reads.page(AuditFilter())
    entry = line.entry
    assert (entry.member, entry.action, entry.resource) == ("ana", "download", "clean_files")
    assert entry.after == {"file": "2031/a.csv"}


def test_a_viewer_changes_nothing(api: Api) -> None:
    assert put(api, "a.csv") == 201
    assert put(api, "b.csv", by="ana") == 403
    assert put(api, "a.csv", by="ana", query="?replace=true") == 403
    problem(api.call("DELETE", f"{FILES}/a.csv", "ana"), 403, "forbidden")
    assert paths(api) == ["a.csv"]


def test_who_has_nothing_there_finds_nothing(api: Api) -> None:
    assert put(api, "a.csv") == 201
    for method, path in (("GET", ""), ("GET", "/a.csv"), ("PUT", "/b.csv"), ("DELETE", "/a.csv")):
        answer = api.call(method, f"{FILES}{path}", "nils", content=b"x" if method == "PUT" else None)
        missing = api.call(method, f"{FILES}{path}".replace("clean", "nosuch"), "nils", content=answer.content[:0])
        assert answer.status_code == missing.status_code == 404
        assert answer.json()["detail"].replace("clean", "nosuch") == missing.json()["detail"]


def test_a_file_is_replaced_only_if_that_is_said(api: Api) -> None:
    assert put(api, "a.csv", b"old") == 201
    problem(api.call("PUT", f"{FILES}/a.csv", "erik", content=b"new"), 409, "conflict")
    assert api.get(f"{FILES}/a.csv", "ana").content == b"old"
    assert put(api, "a.csv", b"new", query="?replace=true") == 201
    assert api.get(f"{FILES}/a.csv", "ana").content == b"new"


def test_a_deleted_file_is_gone_with_its_empty_folder(api: Api, corner: DemoPlatform) -> None:
    assert put(api, "deep/er/a.csv") == 201
    assert api.call("DELETE", f"{FILES}/deep/er/a.csv", "erik").status_code == 204
    assert paths(api) == []
    problem(api.call("DELETE", f"{FILES}/deep/er/a.csv", "erik"), 404, "not_found")
    assert deeds(corner) == ["remove file", "put file"]


@pytest.mark.parametrize(
    "path",
    [
        *("%2e%2e/key", "a/%2e%2e/%2e%2e/key", "..%2fkey", "%2fetc%2fpasswd", "a//b", ".lakehold/x", "a/.hidden"),
        *("a%5cb", "%20a", "a%00b", "a%0ab", "x" * 201, "/".join(["d"] * 11)),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(api: Api, corner: DemoPlatform, path: str) -> None:
    for method in ("PUT", "GET", "DELETE"):
        answer = api.call(method, f"{FILES}/{path}", "erik", content=b"x" if method == "PUT" else None)
        assert answer.status_code in {404, 422}, answer.text
    folder = folder_of(corner)
    assert not folder.exists() or not [file for file in folder.rglob("*") if file.is_file()]


def test_a_folder_is_no_file_and_a_file_no_folder(api: Api) -> None:
    assert put(api, "a/b.csv") == 201
    problem(api.call("PUT", f"{FILES}/a", "erik", content=b"x"), 409, "conflict")
    problem(api.call("PUT", f"{FILES}/a/b.csv/c", "erik", content=b"x"), 409, "conflict")
    problem(api.get(f"{FILES}/a", "ana"), 404, "not_found")
    problem(api.get(FILES, "ana", params={"folder": "nosuch"}), 404, "not_found")


def test_a_link_on_the_disk_leads_nowhere(api: Api, corner: DemoPlatform) -> None:
    assert put(api, "a.csv") == 201
    (folder_of(corner) / "link").symlink_to(corner.settings.data / "key")
    assert paths(api) == ["a.csv"]
    problem(api.get(f"{FILES}/link", "ana"), 404, "not_found")


def test_a_linked_folder_leads_nowhere(api: Api, corner: DemoPlatform, tmp_path: Path) -> None:
    assert put(api, "a.csv") == 201
    (tmp_path / "b.csv").write_bytes(b"secret")
    (folder_of(corner) / "link").symlink_to(tmp_path)
    problem(api.get(f"{FILES}/link/b.csv", "ana"), 404, "not_found")
    problem(api.get(FILES, "ana", params={"folder": "link"}), 404, "not_found")
    problem(api.call("DELETE", f"{FILES}/link/b.csv", "erik"), 404, "not_found")
    problem(api.call("PUT", f"{FILES}/link/c.csv", "erik", content=b"x"), 409, "conflict")
    problem(api.call("PUT", f"{FILES}/link/b.csv?replace=true", "erik", content=b"x"), 409, "conflict")
    assert [(file.name, file.read_bytes()) for file in tmp_path.glob("*.csv")] == [("b.csv", b"secret")]


def test_a_part_of_a_file_is_sent(api: Api) -> None:
    assert put(api, "a.csv", b"0123456789") == 201
    found = api.call("GET", f"{FILES}/a.csv", "ana", headers={"range": "bytes=2-4"})
    assert (found.status_code, found.content) == (206, b"234")


def test_a_large_file_is_taken_and_one_that_is_too_large_is_not(api: Api, corner: DemoPlatform) -> None:
    assert put(api, "large.bin", b"x" * 3_000_000) == 201
    corner.settings = corner.settings.model_copy(update={"upload_megabytes": 4})

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"x" * 1_000_000

    problem(api.call("PUT", f"{FILES}/said.bin", "erik", content=b"x" * 5_000_000), 413, "too_large")
    problem(api.call("PUT", f"{FILES}/unsaid.bin", "erik", content=parts()), 413, "too_large")
    assert paths(api) == ["large.bin"]
    assert list((folder_of(corner) / ".lakehold").iterdir()) == []


def test_pages_of_many_files(api: Api, corner: DemoPlatform) -> None:
    assert put(api, "0.csv") == 201
    for number in range(1, 30):
        (folder_of(corner) / f"{number}.csv").touch()
    first = json_body(api.get(FILES, "ana", params={"limit": 20}))
    second = json_body(api.get(FILES, "ana", params={"limit": 20, "after": first["next"]}))
    assert len({file["path"] for file in first["items"] + second["items"]}) == 30
    assert second["next"] is None


def test_a_table_has_no_files(api: Api) -> None:
    problem(api.get("/api/v1/volumes/orders/files", "ana"), 422, "invalid_input")
    problem(api.get("/api/v1/volumes/salaries/files", "ana"), 404, "not_found")
