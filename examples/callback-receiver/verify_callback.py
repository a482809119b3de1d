import base64
import hashlib
import hmac
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# A callback that is older, in seconds, is somebody's who sends it again.
TOLERANCE = 300


def is_genuine(headers, body, secret=None, keys=(), now=None):
    """Whether a callback is from this platform and unchanged.

    The names of `headers` are in lower case, `body` are its bytes as they came. Give it the `secret` that the function
    names, else the `keys` of `/.well-known/weir-callback-keys`.
    """
    id_, timestamp, signatures = (headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    now = time.time() if now is None else now
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > TOLERANCE:
        return False
    signed = f"{id_}.{timestamp}.".encode() + body
    return any(_matches(*each.partition(",")[::2], signed, secret, keys) for each in signatures.split(" "))


def _matches(version, text, signed, secret, keys):
    if version == "v1a":
        return any(_verifies(key, text, signed) for key in keys)
    if version != "v1" or secret is None:
        return False
    key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return hmac.compare_digest(text.encode(), expected.encode())


def _verifies(key, text, signed):
    public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(key["x"] + "="))
    try:
        public.verify(base64.b64decode(text), signed)
        return True
    except (InvalidSignature, ValueError):
        return False
