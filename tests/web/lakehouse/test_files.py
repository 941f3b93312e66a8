"""The files of a volume."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from lakehold.access import Grant
from lakehold.workspaces.lakehouse import volumes
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop, open_demo
from tests.web.forms import send, token
from tests.web.lakehouse.recorded_runs import as_member
from tests.workspaces.lakehouse.test_full_disk import full
from tests.workspaces.lakehouse.test_uploads import heard

HERE = "/resources/raw_files/files"


def put(shop: Shop, path: str, content: bytes = b"id\n1\n", *, member: str = "erik") -> None:
    with shop.platform.write(as_member(member)) as ctx:
        there = volumes.FILES.check_upload(ctx, shop.platform.settings, "raw_files", path)
    with there.open_partial() as rough:
        rough.write(content)
        with shop.platform.write(as_member(member)) as ctx:
            volumes.FILES.store_upload(ctx, shop.platform.settings, "raw_files", path, rough)


def names(shop: Shop, folder: str = "") -> list[str]:
    with shop.platform.read(as_member("olga")) as ctx:
        return [file.path for file in volumes.FILES.list_files(ctx, shop.platform.settings, "raw_files", folder)]


def folder_of(shop: Shop) -> Path:
    with shop.platform.read(as_member("olga")) as ctx:
        return volumes.open_volume(ctx, shop.platform.settings, "raw_files", "read").folder


def upload(client: httpx.Client, files: dict[str, bytes], **fields: str) -> httpx.Response:
    sent = {"csrf_token": token(client, HERE), **fields}
    return client.post(HERE, data=sent, files=[("files", (name, content)) for name, content in files.items()])


@pytest.mark.parametrize("scripts", [True, False])
def test_somebody_uploads_files_takes_one_out_and_deletes_it(
    open_as: Open, shop: Shop, tmp_path: Path, scripts: bool
) -> None:
    for name in ("orders.csv", "stores.csv"):
        (tmp_path / name).write_text(f"id\n{name}\n", encoding="utf-8")
    page = open_as("erik", HERE, scripts=scripts)
    expect(page.get_by_text("No files yet")).to_be_visible()
    page.get_by_label("Choose files").set_input_files([tmp_path / "orders.csv", tmp_path / "stores.csv"])
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("2 files uploaded.")).to_be_visible()
    with page.expect_download() as taken:
        page.get_by_role("link", name="orders.csv").click()
    assert Path(taken.value.path()).read_text(encoding="utf-8") == "id\norders.csv\n"
    page.get_by_role("button", name="Actions for orders.csv").click()
    page.get_by_role("button", name="Delete").click()
    asked = page.get_by_role("dialog") if scripts else page.get_by_role("main")
    asked.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("orders.csv was deleted.")).to_be_visible()
    assert names(shop) == ["stores.csv"]


def test_files_lie_in_folders_that_go_with_the_last_of_them(shop: Shop) -> None:
    client = shop.client("erik")
    first = upload(client, {"a b.csv": b"1"}, new_folder="2031/05 & more")
    assert first.headers["location"] == f"{HERE}/in/2031/05%20%26%20more"
    inside = client.get(first.headers["location"])
    assert "a b.csv" in inside.text
    assert 'href="/resources/raw_files/files/in/2031"' in inside.text
    assert "2031" in client.get(HERE).text
    upload(client, {"c.csv": b"1"}, folder="2031")
    assert names(shop, "2031") == ["2031/05 & more", "2031/c.csv"]
    found = client.get(f"{HERE}/in/2031", params={"q": "c.c"}).text
    assert "c.csv" in found
    assert "05 &amp; more" not in found
    path = "2031/05 & more/a b.csv"
    taken = client.get(f"{HERE}/download", params={"path": path})
    assert (taken.content, taken.headers["content-disposition"].startswith("attachment")) == (b"1", True)
    gone = send(client, HERE, f"{HERE}/remove", path=path, confirmed="1")
    assert client.get(gone.headers["location"]).status_code == 200
    assert names(shop, "2031") == ["2031/c.csv"]
    assert client.get(f"{HERE}/in/nothing").status_code == 404


def test_a_file_that_is_there_is_kept_unless_it_is_to_be_replaced(shop: Shop) -> None:
    put(shop, "orders.csv", b"old")
    client = shop.client("erik")
    assert upload(client, {"orders.csv": b"new", "more.csv": b"1"}).status_code == 303
    text = client.get(HERE).text
    assert "1 file uploaded." in text
    assert "There is a file &#39;orders.csv&#39; already." in text
    assert client.get(f"{HERE}/download", params={"path": "orders.csv"}).content == b"old"
    upload(client, {"orders.csv": b"new"}, replace="1")
    assert client.get(f"{HERE}/download", params={"path": "orders.csv"}).content == b"new"


@pytest.mark.parametrize("name", ["../x.csv", "..", ".hidden", "a\\..\\..\\.x"])
def test_no_name_leads_out_of_the_volume(shop: Shop, name: str) -> None:
    client = shop.client("erik")
    upload(client, {name: b"1"})
    upload(client, {"inside.csv": b"1"}, new_folder=name)
    assert set(names(shop)) <= {"x.csv"}
    assert client.get(f"{HERE}/download", params={"path": f"../{name}"}).status_code in {404, 422}
    assert client.get(f"{HERE}/in/%2E%2E/x").status_code in {404, 422}


def test_who_only_looks_takes_files_out_and_is_told_why_not_more(shop: Shop) -> None:
    put(shop, "orders.csv")
    with shop.platform.write(as_member("olga")) as ctx:
        ctx.session.store.add(Grant("tim", "viewer", "raw_files"))
    client = shop.client("tim")
    text = client.get(HERE).text
    assert "orders.csv" in text
    assert "You need Editor" in text
    assert client.get(f"{HERE}/download", params={"path": "orders.csv"}).status_code == 200
    assert upload(client, {"x.csv": b"1"}).status_code == 403
    assert send(client, HERE, f"{HERE}/remove", path="orders.csv", confirmed="1").status_code == 403
    assert names(shop) == ["orders.csv"]


def test_who_sees_nothing_of_it_finds_nothing(shop: Shop) -> None:
    put(shop, "orders.csv")
    for client in (shop.client("nils"), shop.client("ana")):
        for address in (HERE, f"{HERE}/download?path=orders.csv"):
            answer = client.get(address)
            assert answer.status_code == 404
            assert "orders.csv" not in answer.text.replace("path=orders.csv", "")


def test_a_long_body_is_read_only_from_who_may_put_files_there(shop_folder: Path, tmp_path: Path) -> None:
    with open_demo(shop_folder, tmp_path / "data", upload_megabytes=4) as shop:
        long, longer = b"x" * 3_000_000, b"x" * 5_000_000
        client = shop.client("erik")
        assert upload(client, {"long.bin": long}).status_code == 303
        assert names(shop) == ["long.bin"]
        assert upload(client, {"longer.bin": longer}).status_code == 413
        for other, status in ((shop.client("nils"), 404), (shop.client(), 303)):
            assert other.post(HERE, files=[("files", ("x.bin", long))]).status_code == status
        forged = client.post(HERE, files=[("files", ("forged.bin", long))])
        assert forged.status_code == 403
        assert names(shop) == ["long.bin"]


def test_whoever_views_as_another_reads_no_file_of_theirs(shop: Shop) -> None:
    put(shop, "orders.csv")
    client = shop.client("olga")
    assert send(client, "/view-as", "/view-as", member="erik").status_code == 303
    assert client.get(HERE).status_code == 200
    assert client.get(f"{HERE}/download", params={"path": "orders.csv"}).status_code == 403


def test_only_volumes_have_files(shop: Shop) -> None:
    assert shop.client("olga").get("/resources/orders/files").status_code == 422


@pytest.mark.parametrize("folder", ["", "/in/2031"])
@pytest.mark.rare
def test_axe_finds_nothing_wrong_with_files(open_as: Open, shop: Shop, violations: Violations, folder: str) -> None:
    put(shop, "2031/orders.csv")
    put(shop, "stores.csv")
    assert violations(open_as("erik", f"{HERE}{folder}")) == []


@pytest.mark.parametrize("where", ["on its way", "in the volume"])
def test_a_file_that_finds_no_room_says_so(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    put(shop, "orders.csv", b"old")
    on_its_way = where == "on its way"
    if on_its_way:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "small"))
    client = shop.client("erik")
    with full(tmp_path / "small" if on_its_way else folder_of(shop)):
        answer = upload(client, {"large.bin": b"x" * 2_000_000, **({} if on_its_way else {"small.csv": b"1"})})
        said = answer.text if on_its_way else client.get(answer.headers["location"]).text
        assert answer.status_code == (503 if on_its_way else 303)
        assert "The disk is full" in said
        assert str(tmp_path) not in said
        assert names(shop) == (["orders.csv"] if on_its_way else ["small.csv"])
    assert names(shop) == ["orders.csv"]


def test_a_form_that_is_cut_off_leaves_nothing_and_is_no_fault_of_ours(shop: Shop) -> None:
    client = shop.client("erik")
    head = client.build_request("POST", HERE, files=[("files", ("cut.csv", b"x" * 1_000))])
    host, port = shop.address.removeprefix("http://").split(":")
    lines = [f"POST {HERE} HTTP/1.1", *(f"{name}: {value}" for name, value in head.headers.items()), "", ""]
    with heard("lakehold.requests") as asked, heard("lakehold.errors") as wrong:
        with socket.create_connection((host, int(port))) as line:
            line.sendall("\r\n".join(lines).encode() + head.read()[:500])
        assert vars(asked.get(timeout=60))["fields"]["status"] == 499
        assert wrong.empty()
    assert names(shop) == []
