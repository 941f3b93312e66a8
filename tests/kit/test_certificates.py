"""Certificates of an own authority."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography import x509

from lakehold.kit import certificates
from lakehold.kit.errors import InvalidInputError


def test_only_the_owner_reads_the_files(tmp_path: Path) -> None:
    files = certificates.issue(tmp_path / "tls", ["data.example.org"])
    found = [files.authority, files.authority_key, files.server, files.server_key]
    assert {stat.S_IMODE(each.stat().st_mode) for each in found} == {0o600}
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o700
    assert sorted(files.folder.iterdir()) == sorted(found)


def test_a_second_one_is_signed_by_the_same_authority(tmp_path: Path) -> None:
    files = certificates.issue(tmp_path, ["old.example.org"])
    authority, first = files.authority.read_bytes(), files.server.read_bytes()
    certificates.issue(tmp_path, ["new.example.org", "10.1.2.3", "::1"])
    assert (files.authority.read_bytes() == authority, files.server.read_bytes() == first) == (True, False)
    made = x509.load_pem_x509_certificate(files.server.read_bytes())
    made.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["new.example.org"]
    assert [str(each) for each in names.get_values_for_type(x509.IPAddress)] == ["10.1.2.3", "::1"]


@pytest.mark.parametrize("name", ["", "https://localhost", "data example", "x" * 300, "a..b", "ü" * 70])
def test_a_name_that_no_host_has_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a host name or address"):
        certificates.issue(tmp_path / "tls", [name])
    assert not (tmp_path / "tls").exists()


def test_an_authority_that_is_broken_is_not_replaced(tmp_path: Path) -> None:
    files = certificates.issue(tmp_path, ["localhost"])
    other = certificates.issue(tmp_path / "other", ["localhost"])
    files.authority.write_bytes(other.authority.read_bytes())
    with pytest.raises(InvalidInputError, match="does not belong to"):
        certificates.issue(tmp_path, ["localhost"])
    files.authority.write_text("nothing")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        certificates.issue(tmp_path, ["localhost"])
    assert files.authority.read_text() == "nothing"


def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    files = certificates.issue(tmp_path, ["localhost"])
    certificates.refuse_unusable(str(files.server), str(files.server_key))
    for certificate, key in (
        (files.server, files.authority_key),
        (files.server_key, files.server_key),
        (tmp_path / "missing.pem", files.server_key),
    ):
        with pytest.raises(InvalidInputError, match="cannot be used with the key") as refused:
            certificates.refuse_unusable(str(certificate), str(key))
        assert str(certificate) in refused.value.message
