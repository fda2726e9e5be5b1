"""Signs the PDF of a report (PAdES), with pyHanko, which is optional."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from auditor.errors import InputError
from auditor.messages import escaped


def sign(content: bytes, key: Path, passphrase: str) -> bytes:
    """Append a PAdES signature to a PDF; all bytes before it stay as they are.

    Only RSA keys: pyHanko raises a file with another kind of signature to PDF 2.0, which PDF/A-3 forbids.

    Parameters
    ----------
    key : Path
        A PKCS #12 file with the key and its certificates.

    Raises
    ------
    InputError
        If pyHanko isn't installed, or the key can't be used.
    """
    try:
        from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
        from pyhanko.sign import PdfSignatureMetadata, SimpleSigner, sign_pdf
        from pyhanko.sign.fields import SigSeedSubFilter
    except ImportError as error:
        raise InputError("signing a PDF needs pyHanko: pip install pyhanko") from error
    load: Callable[..., SimpleSigner | None] = SimpleSigner.load_pkcs12
    signer = load(str(key), passphrase=passphrase.encode())
    if signer is None or signer.signing_cert is None:
        raise InputError(f"{escaped(str(key))}: no PKCS #12 file with a certificate, or another passphrase")
    if signer.signing_cert.public_key.algorithm != "rsa":
        raise InputError(f"{escaped(str(key))}: not an RSA key; other signatures would break PDF/A-3")
    metadata = PdfSignatureMetadata(
        field_name="Signature", subfilter=SigSeedSubFilter.PADES, md_algorithm="sha256"
    )
    signed = sign_pdf(IncrementalPdfFileWriter(BytesIO(content)), metadata, signer=signer)
    return bytes(signed.getvalue())
