"""Certificates for a test run: an authority, a server at 127.0.0.1 and a client, as PEM files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

VALID = timedelta(days=2)


@dataclass(frozen=True)
class Certificates:
    """Paths of the PEM files. `server` contains the server's key and chain together, as Kafka needs it."""

    authority: Path
    server: Path
    client: Path
    client_key: Path

    @classmethod
    def at(cls, folder: Path) -> Certificates:
        """Return the paths in a folder that `certificates` filled."""
        return cls(*(folder / name for name in ("ca.pem", "server.pem", "client.pem", "client.key")))


def certificates(folder: Path) -> Certificates:
    """Create new certificates in the folder."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _signed("suma tests", authority_key, authority_key, "suma tests", is_authority=True)
    made = Certificates.at(folder)
    made.authority.write_bytes(_pem(authority))
    for name, where, key_where in (
        ("localhost", made.server, made.server),
        ("suma client", made.client, made.client_key),
    ):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _pem(_signed(name, key, authority_key, "suma tests")) + _pem(authority)
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        key_where.write_bytes(secret)
        where.write_bytes(certificate + secret if where == key_where else certificate)
    return made


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    by: ec.EllipticCurvePrivateKey,
    issuer: str,
    *,
    is_authority: bool = False,
) -> x509.Certificate:
    """Sign a certificate with all extensions that RFC 5280 requires: Python 3.13 accepts no fewer."""
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))])
    unsigned = (
        x509.CertificateBuilder()
        .subject_name(_called(name))
        .issuer_name(_called(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(names, critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key()), critical=False)
        .add_extension(_may(sign=not is_authority, certify=is_authority), critical=True)
    )
    return unsigned.sign(by, hashes.SHA256())


def _may(*, sign: bool, certify: bool) -> x509.KeyUsage:
    never = (
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "encipher_only",
        "decipher_only",
    )
    return x509.KeyUsage(digital_signature=sign, key_cert_sign=certify, crl_sign=certify, **dict.fromkeys(never, False))


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)
