"""The judgement: is a value a secret, or what a specification says in its place?

Sees a value and its place, never the whole text. A specification refers to a secret (`${PASSWORD}`)
or says a term about it (`bcrypt`); a secret is mixed, a code, or noise that only chance writes.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from preflights_es.redaction.patterns import SecretKind, compile_pattern, read_word_table

# 1. Words that stand where a secret could stand ------------------------------------------------


def is_technical(word: str) -> bool:
    return compile_pattern(_TECHNICAL).fullmatch(word) is not None


def is_said(word: str) -> bool:
    return is_adjective(word) or word in read_word_table("said_of_it")


def is_adjective(word: str) -> bool:
    return compile_pattern(_ADJECTIVE).search(word) is not None


# Terms with digits or of cryptography; numbers with a unit, versions, ordinals, limits.
_TECHNICAL: Final = (
    r"argon2?(?:id|i|d)?|[by]crypt\d*|scrypt\d*|pbkdf2\w*|sha-?\d{1,3}(?:-\d{3})?\w{0,4}|md[45]|"
    r"blake[23]\w?|hmac\w*|(?:rs|hs|es|ps|p)(?:256|384|512|521)|aes-?\d*(?:-?[a-z]{3})?|rsa-?\d*|"
    r"ed25519|x25519|curve25519|secp\d+\w\d|x\.?509(?:v3)?|pkcs#?\d*|p12|utf-?\d+|u2f|fido2?|"
    r"base-?(?:16|32|36|58|62|64)\w*|aws4|[23]fa|[tmh]?otp|mfa|oauth-?[12]?(?:\.\d)?\w*|auth0|saml2?|"
    r"oidc|web[23]|k8s|s3|ec2|r2|d1|h2|http[23s]?|tls(?:v?1(?:\.\d)?)?|ssl\w*|ipv[46]|i18n|l10n|"
    r"a11y|b2[bc]|v\d+(?:\.\d+)*\w{0,6}|uuid(?:v?\d)?|ulid|cuid2?|nanoid|py(?:thon)?[23]|php\d|"
    r"vue[23]|es\d+|win\d+|1password\w*|keepass\w*|lastpass|bitwarden|zxcvbn\d*|h?ibp|pwned\w*|"
    r"postgres(?:ql)?\d+|mysql\d|neo4j|log4j|gpt-?\d\w*|llama-?\d*|iso\d+|rfc-?\d+|nist\d*|owasp\d*|"
    r"cve\d*|q[1-4]|\d+(?:\.\d+)?-?(?:st|nd|rd|th|x|px|r?em|k|[kmg]i?b|ms|s|secs?|seconds?|m|mins?|"
    r"minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|months?|y|years?|bits?|bytes?|b|chars?|characters?|"
    r"zeichen|stellig\w*|digits?|letters?|symbols?|words?|tagen?|stunden?|minuten?|sekunden?|"
    r"wochen?|monaten?|jahren?|factor|faktor|step|tier|way|times?)|\d{1,4}-[a-z]+|"
    r"(?:min|max|len|length|size|ttl|exp|rounds?|cost|iterations?|bits?|level|stufe|step|phase|"
    r"version|issue|ticket|pr|adr|minlength|maxlength)[-_:=<>≥≤#. (]*\d[\d.,)]*"
)
_ADJECTIVE: Final = (
    r"(?:[^aeiou]ed|[ai]ble|[st]ory|[st]ive|ous|less|[iy]zed|pflichtig|lich|bar|isch|haft|los|"
    r"iert|pflichtend|reichend)$|^pflicht|^(?:ge|ver|be|er|zer|ent)\w{3,}t$"
    r"|^(?:un|in|non|multi|auto|self|user|server|client|case|time)-?\w*(?:ed|ive|able|t)$"
)
_ROMANCE_ADJECTIVE: Final = (
    r"(?:ée?s?|oires?|iques?|[aieu]bles?|eu(?:x|ses?)|i(?:fs?|ves?)|[ae]nte?s?|iell?e?s?|[ai]d[ao]s?"
    r"|[aot]ri[ao]s?|aires?|os[ao]s?|iv[ao]s?|ale?s?|[ci]t[ao]s?|ic[ao]s?|[aeií]r|ment[eo]?)$"
    r"|^(?:in|im|non|auto|des|sin)-?\w{6,}$"
)
# The same, of those only that a proper name seldom has: "la contraseña es Mariposa".
_ROMANCE_PARTICIPLE: Final = (
    r"(?:ée?s?|oires?|ori[ao]s?|[aieu]bles?|[ai]d[ao]s?|[ae]ntes?|i(?:f|ve)s?|iv[ao]s?"
    r"|[ae]ri[ao]s?)$"
)


# 2. References and terms -----------------------------------------------------------------------

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
    if compile_pattern(_REFERENCE).match(value):
        return True
    if quoted:
        return False
    if compile_pattern(_TYPE).match(value):
        return True
    return compile_pattern(_EXPRESSION).match(value) is not None and not is_noise(value)


_NUMBERS: Final = r"[<>=~≥≤]*\d+(?:[.,:/x\u2013-]\d+)+\D?|[<>=~≥≤]+\d+|\d+[+%]|[A-Z]{2,10}-\d{1,6}"


def specifies(value: str) -> bool:
    """Words and terms of a specification: `required`, `sha256-hashed`, `>=12`, `30min`."""
    if len(value) > 60:
        return False
    bare = value.strip("\"'`.,;:!?()[]")
    low = bare.strip("<>=≥≤~*").lower()
    if (
        compile_pattern(_NUMBERS).fullmatch(bare)
        or low in read_word_table("vocabulary")
        or is_technical(low)
    ):
        return True
    pieces = [piece for piece in compile_pattern(r"[-_/+.,:;()|\s]+").split(low) if piece]
    terms = read_word_table("vocabulary") - read_word_table("label_words")
    others = [piece for piece in pieces if not (piece in terms or is_technical(piece))]
    return len(others) < len(pieces) and all(p.isalpha() or len(p) < 3 for p in others)


# 3. How mixed a value is -----------------------------------------------------------------------


def is_mixed(value: str) -> bool:
    """Letters with digits or signs: what people take for a safe password."""
    bare = value.rstrip("!")
    if not compile_pattern(r"[^\W\d_]").search(bare):
        return False
    return compile_pattern(r"\d|\w[@$!%^*#~&]|[@$!%^*#~&]\w").search(bare) is not None


def is_safe_mix(value: str) -> bool:
    """Mixed enough to stand out of prose."""
    mixed = r"[^\W\d_].*\d|\d.*[^\W\d_]|\w[@$!%^*]+\w"
    return len(value) >= 6 and compile_pattern(mixed).search(value) is not None


def is_code(value: str) -> bool:
    """Letters and digits, or letters in a disorder that no name has."""
    if compile_pattern(r"[A-Za-z]").search(value) and compile_pattern(r"\d").search(value):
        return len(value) >= 6
    switches = len(compile_pattern(r"[a-z](?=[A-Z+/])|[A-Z]{2}(?=[a-z])").findall(value))
    return len(value) >= 16 and switches * 5 >= len(value)


def is_base64(value: str) -> bool:
    """What follows `Basic`: base64 of a name and a password, and not a word."""
    switches = len(compile_pattern(r"[a-z](?=[A-Z])").findall(value))
    marked = value.endswith("=") or switches >= (1 if is_code(value) else 2)
    fits = compile_pattern(r"[A-Za-z0-9+/_-]{8,}={0,2}").fullmatch(value)
    return marked and fits is not None


_UUID: Final = r"\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"


def is_noise(value: str, length_min: int = 16) -> bool:
    """Long and random; a name with a number and a UUID are not."""
    if len(value) < length_min or not compile_pattern(r"[\w+/=.~%:!-]+", re.ASCII).fullmatch(value):
        return False
    name = r"[a-z]*\d*(?:[-_./:](?:[a-z]+\d{0,2}|v?\d+))+"
    if compile_pattern(_UUID).match(value) or compile_pattern(name).fullmatch(value):
        return False
    digits = compile_pattern(r"\d").findall(value)
    letters = compile_pattern(r"[A-Za-z]").findall(value)
    turns = compile_pattern(r"\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z])").findall(value)
    return min(len(digits), len(letters)) >= 3 and len(turns) >= (2 if len(digits) > 8 else 4)


# 4. The judgement ------------------------------------------------------------------------------

Need = Literal["word", "code", "mixed", "noise", "pin"]
Manner = Literal["=", ":", "is", "loose"]


class LabelExpectation(NamedTuple):
    """What a label makes us expect behind it."""

    kind: SecretKind
    need: Need  # any word; a code; letters and digits; long and random; four digits and more
    literal: bool  # an environment file, a query, a flag: no variable can stand here
    flag: bool  # --password
    many: bool  # passwords
    caps: bool  # PASSWORD
    romance: bool  # mot de passe, contraseña


class PlacedValue(NamedTuple):
    """A value at its place."""

    value: str
    quote: str
    manner: Manner
    tight: bool  # `password=x`, without a blank
    ended: bool  # nothing follows that would make prose of it
    variable: bool  # it stands in a call or an object of a programming language


def gives_away(told: PlacedValue, place: LabelExpectation) -> bool:
    value, literal = told.value, place.literal
    if place.need == "pin":
        return (
            told.ended
            and (told.manner != "loose" or place.caps)
            and compile_pattern(r"\d{4,8}").fullmatch(value) is not None
        )
    if len(value) < 4 or refers(value, quoted=told.quote not in {"", "`"}):
        return False
    if told.manner == "loose" and _is_loosely_prose(told, place):
        return False
    if literal and told.manner == "=" and place.need == "word":
        if is_technical(value.lower()) or value.lower() in read_word_table("nothing"):
            return False
    elif specifies(value):
        return False
    match place.need:
        case "noise":
            if place.kind == "key" and told.manner == "is":
                return is_noise(told.value) or (told.value.isalnum() and is_noise(told.value, 10))
            return is_noise(told.value) and (told.manner != "loose" or place.kind == "key")
        case "code" | "mixed":
            return _is_code_told(told, place, literal=literal)
        case _:
            return _is_password_told(told, place)


def _is_loosely_prose(told: PlacedValue, place: LabelExpectation) -> bool:
    """Next to a label, and neither `=` nor "is" between: a link, an index, a verb's object."""
    if "://" in told.value or "](" in told.value:
        return True
    if place.kind == "password" and place.need == "code":  # "pass utf8mb4 to the driver"
        return True
    return not told.quote and compile_pattern(r"[()\[\]{}]").search(told.value) is not None


def _is_password_told(told: PlacedValue, place: LabelExpectation) -> bool:
    value = told.value
    if told.quote and " " in value:
        return is_phrase(value)
    if is_mixed(value):
        is_numbered_name = value.rstrip("0123456789").lower() in read_word_table("label_words")
        if (told.variable or told.manner == "loose") and is_numbered_name:
            return False
        return told.manner != "loose" or is_safe_mix(value)
    if value.isdigit():
        is_whole = told.ended or (told.tight and told.manner == "=")
        return is_whole and (told.manner != "loose" or len(value) >= 6)
    return _is_word_told(told, place)


def _is_word_told(told: PlacedValue, place: LabelExpectation) -> bool:
    """A password without digit or sign: only its place tells it from prose."""
    word = told.value.rstrip("!")
    low = word.lower()
    if not compile_pattern(r"[^\W\d_]+(?:[-_.'][^\W\d_]+)*").fullmatch(word):
        return False
    if place.literal:
        return told.tight or (told.ended and not word.isupper())
    if told.variable or _is_identifier(word):
        return False
    if told.quote:
        return told.manner != "loose"
    if place.romance and told.manner in {":", "is"}:
        named = told.manner == "is" and word[:1].isupper() and not word.isupper()
        # Adjectives, participles and infinitives; fewer for a proper name.
        ending = _ROMANCE_PARTICIPLE if named else _ROMANCE_ADJECTIVE
        if compile_pattern(ending).search(low) or low in read_word_table("said_in_romance"):
            return False
    match told.manner:
        case "=":
            named = low in read_word_table("variables") or ("_" in word and not told.tight)
            return (told.tight or told.ended) and not named
        case ":":
            return told.ended and not is_said(low.replace("secret", "").replace("geheim", ""))
        case "is":
            return told.ended and not is_said(low) and not low.endswith("ing")
        case _:
            return low.count("-") >= 3


def _is_identifier(word: str) -> bool:
    """A variable of a program that holds a secret: `db_password`, `userPassword`."""
    pieces = compile_pattern(r"[A-Z]?[a-zäöüß]+|[A-Z]+").findall(word)
    several = len(pieces) > 1 and not word[:1].isupper()
    return several and any(piece.lower() in read_word_table("label_words") for piece in pieces)


def is_phrase(value: str) -> bool:
    """Several words in quotes: a passphrase has none that a message or a rule would have."""
    spoken = [word.strip(".,;:!?()").lower() for word in value.split()]
    ordinary = read_word_table("in_sentences") | read_word_table("vocabulary")
    return len(spoken) <= 12 and not any(word in ordinary or is_technical(word) for word in spoken)


def _is_code_told(told: PlacedValue, place: LabelExpectation, *, literal: bool) -> bool:
    value, loose = told.value, told.manner == "loose"
    own = place.kind == "token" or place.need == "mixed"
    if " " in value or (
        own and not compile_pattern(r"[A-Za-z0-9+_=~][\w.+/=~:%@-]*").fullmatch(value)
    ):
        return False
    if is_code(value):
        name = compile_pattern(r"[a-z]+\d?(?:[-_.](?:[a-z]+\d?|v?\d{1,4}))+").fullmatch(value)
        clear = bool(literal or told.quote or "secret" in value) and not loose
        return (clear or not name) and len(value) >= (8 if loose else 6)
    if loose or told.variable or place.need == "mixed":
        return False
    if value.isdigit():
        return len(value) >= 8 and told.ended and not value.startswith(("19", "20"))
    if not value.isalpha() or len(value) < 6:
        return False
    plain = value.islower() or value.isupper()
    quoted = bool(told.quote) and (literal or (len(value) >= 12 and plain))
    return quoted or (literal and told.tight)
