"""What a specification says where a secret could stand: a reference to it, or a term about it."""

from __future__ import annotations

from typing import Final

from preflights_es.redaction.allowlist_words import LABEL_WORDS, VOCABULARY, is_technical
from preflights_es.redaction.entropy import is_noise
from preflights_es.redaction.patterns import compiled, words

# Where a secret is, not what it is.
_REFERENCE: Final = (
    # ***, xxxx, <password>, ${PASSWORD}, {{ password }}, {password}, [password], %s, $PASSWORD, :pw
    r"[\W_]+$|[xX*•._#?-]+[0-9]?$|<[^<>]*>$|\$\{|\$\(|\{\{|%\(|%\{|#\{|@\{|\{[A-Za-z_]"
    r"|\[[\w .-]*\]$|%[sdrv]$|%\w+%$|__\w+__$"
    r"|\$[A-Z_][A-Z0-9_]*$|\$[a-z_]+$|(?i:\$env:)|\$\w+(?:\[|->|\()"
    r"|[:@][a-z_]+$|![A-Za-z]+$"
    # a regular expression, a sealed value, the address of a secret
    r"|\^[\[(\\.]|\(\?|\[\^?[A-Za-z0-9]-|\\[dwsS]|ENC\["
    r"|(?i:https?|file|env|vault|op|ssm|arn|aws|gcp|gs|s3|sm|secrets?|secretsmanager|keyring|"
    r"keychain|azurekv|kms|akv|bws|ref\+\w+|projects)[:/]|[a-z][a-z0-9+.-]*://"
    # your-password, REPLACE_ME, my-api-key, password-here, DB_PASSWORD
    r"|(?i:your|dein|ihr|replace|insert|enter|todo|tbd|fixme|placeholder|redacted|put)(?:$|[-_ .])"
    r"|(?i:(?:your|dein)[a-z_-]+$|.*[-_](?:here|hier|placeholder)$"
    r"|my[-_](?:\w+[-_])?(?:password|token|key|secret)$)"
    r"|(?:[A-Z0-9]+_)*(?:PASS(?:WORD|WD|PHRASE)?|PWD|SECRET|TOKEN|KEY|ENV|VAR|CRED\w*)"
    r"(?:_[A-Z0-9]+)*$"
)
# Only without quotes: a call, a member, a path, a file.
_EXPRESSION: Final = (
    r"[A-Za-z_$][\w$-]*(?:(?:\??\.|->|::)[A-Za-z_]\w*)*[(\[]"
    r"|[A-Za-z_$]+(?:(?:\??\.|->|::)[A-Za-z_$]+)+;?$"
    r"|(?:self|this|cls|os|sys|process|env|config|cfg|settings|secrets?|credentials?|req|request|"
    r"args|data|form|body|params|user|db|app|opts|options|ctx|context)\.[\w.]+;?$"
    r"|(?:~|\.{1,2})?/[\w.@-]+|[A-Za-z]:\\|[\w./-]+\.(?:ya?ml|json|py|tsx?|jsx?|html?|md|env|txt|"
    r"pem|crt|kdbx|go|rs|java|sql|csv|toml|ini|conf|cfg|sh|xml|log|php|rb)$"
)
_TYPE: Final = (
    r"(?:\w+\.)*(?!Super|My|Top|Very|Secret)[A-Z][A-Za-z0-9]+"
    r"(?:Keys?|Tokens?|Pass|Secret|Password|Types?)$"
)


def refers(value: str, *, quoted: bool) -> bool:
    if compiled(_REFERENCE).match(value):
        return True
    if quoted:
        return False
    if compiled(_TYPE).match(value):
        return True
    return compiled(_EXPRESSION).match(value) is not None and not is_noise(value)


_NUMBERS: Final = r"[<>=~≥≤]*\d+(?:[.,:/x\u2013-]\d+)+\D?|[<>=~≥≤]+\d+|\d+[+%]|[A-Z]{2,10}-\d{1,6}"


def specifies(value: str) -> bool:
    """Words and terms of a specification: `required`, `sha256-hashed`, `>=12`, `30min`."""
    if len(value) > 60:
        return False
    bare = value.strip("\"'`.,;:!?()[]")
    low = bare.strip("<>=≥≤~*").lower()
    if compiled(_NUMBERS).fullmatch(bare) or low in words(VOCABULARY) or is_technical(low):
        return True
    pieces = [piece for piece in compiled(r"[-_/+.,:;()|\s]+").split(low) if piece]
    others = [piece for piece in pieces if not (_is_term(piece) or is_technical(piece))]
    return len(others) < len(pieces) and all(p.isalpha() or len(p) < 3 for p in others)


def _is_term(word: str) -> bool:
    return word in words(VOCABULARY) and word not in words(LABEL_WORDS)
