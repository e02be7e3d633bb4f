"""Certificates for content credentials: a root and a leaf for each year, derived from a secret.

Everything follows from the secret and the year, so all processes make the same bytes and nothing has to be stored.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

ROOT_BEGINS, ROOT_ENDS = datetime(2025, 1, 1, tzinfo=UTC), datetime(2075, 1, 1, tzinfo=UTC)
LEAF_YEARS = 3
"""Years for which a leaf is valid; the year in which it signs is the first."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A leaf's key, the chain up to its root, and the root, each as PEM."""

    key: str
    chain: str
    root: str


def chain_of(secret: bytes, year: int) -> Chain:
    """Return the chain that signs in this year."""
    root_key, leaf_key = _key(secret, "root"), _key(secret, f"leaf {year}")
    root_name, leaf_name = _name("Suma content credentials root"), _name(f"Suma content credentials {year}")
    root = (
        _certificate(root_name, root_name, root_key, root_key, ROOT_BEGINS, ROOT_ENDS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .sign(root_key, None)
    )
    begins = datetime(year, 1, 1, tzinfo=UTC) - timedelta(days=1)
    leaf = (
        _certificate(leaf_name, root_name, leaf_key, root_key, begins, datetime(year + LEAF_YEARS, 1, 1, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        # C2PA wants one of three purposes; this is the one that a certificate for documents has.
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False)
        .sign(root_key, None)
    )
    pem = serialization.Encoding.PEM
    key = leaf_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    as_text = [each.public_bytes(pem).decode() for each in (leaf, root)]
    return Chain(key, "".join(as_text), as_text[1])


def _key(secret: bytes, purpose: str) -> Ed25519PrivateKey:
    derived = HKDF(hashes.SHA256(), 32, salt=None, info=f"suma content credentials {purpose}".encode()).derive(secret)
    return Ed25519PrivateKey.from_private_bytes(derived)


def _name(common: str) -> x509.Name:
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Suma"), x509.NameAttribute(NameOID.COMMON_NAME, common)]
    )


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: Ed25519PrivateKey,
    issuer_key: Ed25519PrivateKey,
    begins: datetime,
    ends: datetime,
) -> x509.CertificateBuilder:
    public = key.public_key()
    # A serial number has at most 20 bytes, and is positive.
    serial = int.from_bytes(hashlib.sha256(public.public_bytes_raw()).digest()[:16]) | 1
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(serial)
        .not_valid_before(begins)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=not signs,
        crl_sign=not signs,
        encipher_only=False,
        decipher_only=False,
    )
