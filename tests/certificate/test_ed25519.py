"""Ed25519 as the checker does it: the vectors of RFC 8032, and the same answers as `cryptography`."""

from __future__ import annotations

import base64
from pathlib import Path
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from auditor.certificate import checker
from auditor.certificate.signing import is_signed_by, load_public_key
from auditor.errors import InputError
from tests.certificate.making import KEY, private_pem, public_pem

#: Section 7.1: public key, message, signature.
VECTORS = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
        "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da0"
        "85ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac1"
        "8ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2"
        "192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b5890"
        "9351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
]

#: Points of order 1, 2, 4 and 8: for such a key anyone can make signatures.
WEAK = [
    "01" + "00" * 31,
    "ec" + "ff" * 30 + "7f",
    "00" * 32,
    "00" * 31 + "80",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]
#: y not below the prime, and x = 0 with a sign: other ways to write points that have one already.
OTHER_WAYS = ["ed" + "ff" * 30 + "7f", "ee" + "ff" * 30 + "7f", "01" + "00" * 30 + "80"]
#: No point of the curve has this y.
NO_POINT = ["02" + "00" * 31]


@pytest.mark.parametrize(("key", "message", "signature"), VECTORS)
def test_the_vectors_of_the_rfc(key: str, message: str, signature: str) -> None:
    public, signed, sig = map(bytes.fromhex, (key, message, signature))
    assert checker.is_signed(signed, sig, public)
    assert not checker.is_signed(signed + b"x", sig, public)
    for place in range(0, 64, 7):
        changed = sig[:place] + bytes([sig[place] ^ 1]) + sig[place + 1 :]
        assert not checker.is_signed(signed, changed, public)


def both(signed: bytes, sig: bytes, key: bytes) -> bool:
    """What both say, which must be the same."""
    ours = checker.is_signed(signed, sig, key)
    assert ours == is_signed_by(signed, sig, Ed25519PublicKey.from_public_bytes(key))
    return ours


def test_it_says_the_same_as_cryptography() -> None:
    random = Random(1)
    for _ in range(12):
        private = Ed25519PrivateKey.from_private_bytes(random.randbytes(32))
        key, signed = private.public_key().public_bytes_raw(), random.randbytes(random.randrange(50))
        sig = private.sign(signed)
        assert both(signed, sig, key)
        bit = random.randrange(512)
        flipped = (int.from_bytes(sig, "little") ^ (1 << bit)).to_bytes(64, "little")
        assert not both(signed, flipped, key)
        scalar = int.from_bytes(sig[32:], "little")
        for other in (scalar + checker.ORDER, 2**256 - 1, 0):
            assert not both(signed, sig[:32] + other.to_bytes(32, "little"), key)
        for point in (*WEAK, *OTHER_WAYS, *NO_POINT):
            assert not both(signed, bytes.fromhex(point) + sig[32:], key)


def pem(raw: bytes) -> bytes:
    """A public key in PEM."""
    body = base64.b64encode(checker.PREFIX + raw)
    return b"-----BEGIN PUBLIC KEY-----\n" + body + b"\n-----END PUBLIC KEY-----\n"


def test_a_key_is_read_as_openssl_writes_it() -> None:
    assert pem(KEY.public_key().public_bytes_raw()) == public_pem()
    assert checker.public_key(public_pem()) == KEY.public_key().public_bytes_raw()
    assert checker.public_key(public_pem().replace(b"\n", b"\r\n")) == KEY.public_key().public_bytes_raw()


def refused(path: Path, data: bytes) -> bool:
    """Whether both refuse a file as a key."""
    path.write_bytes(data)
    try:
        checker.public_key(data)
    except ValueError:
        with pytest.raises(InputError):
            load_public_key(path)
        return True
    load_public_key(path)
    return False


@pytest.mark.parametrize("point", [*WEAK, *OTHER_WAYS, *NO_POINT])
def test_weak_keys_and_what_is_no_point_are_refused(tmp_path: Path, point: str) -> None:
    assert refused(tmp_path / "key.pem", pem(bytes.fromhex(point)))


def test_other_keys_are_refused(tmp_path: Path) -> None:
    others = (
        rsa.generate_private_key(65537, 2048).public_key(),
        ec.generate_private_key(ec.SECP256R1()).public_key(),
        ed448.Ed448PrivateKey.generate().public_key(),
    )
    files = [key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) for key in others]
    files += [private_pem(), b"", b"x", public_pem() * 2, b"a key:\n" + public_pem(), public_pem()[:-20]]
    for data in files:
        assert refused(tmp_path / "key.pem", data)
    assert not refused(tmp_path / "key.pem", public_pem())
