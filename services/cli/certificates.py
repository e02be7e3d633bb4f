"""The certificate of the gateway that a command calls: by whom it may be signed, and what to do if it is not."""

from __future__ import annotations

import os
import ssl

from libs.errors import Rejected

UNTRUSTED = "its certificate is not trusted: set SSL_CERT_FILE to its authority's certificate (PEM)"


class BadAuthorities(Rejected):
    """SSL_CERT_FILE cannot be read; set it to a PEM file."""

    code = "BAD_AUTHORITIES"


def verification(url: str) -> ssl.SSLContext | bool:
    """Return the `verify` of httpx for a URL: SSL_CERT_FILE, else the public authorities.

    Raises:
        BadAuthorities: SSL_CERT_FILE is no PEM file.
    """
    # Without https there is nothing to verify, and loading the certificates takes as long as the call.
    if not url.startswith("https:"):
        return False
    # httpx reads the variable itself only where it may also use a proxy.
    file = os.environ.get("SSL_CERT_FILE")
    try:
        return ssl.create_default_context(cafile=file) if file else True
    except (OSError, ssl.SSLError) as error:
        raise BadAuthorities(f"SSL_CERT_FILE: cannot read {file}: {error}") from None


def is_untrusted(error: BaseException | None) -> bool:
    """Return whether a call failed because the certificate is not trusted."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error is not None
