"""Shapes: credentials that are recognised wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from preflights_es.redaction.patterns import Span, compiled, named, rules

# One a line, as the vendors document them and secret scanners collect them. What ends a shape is
# greedy and unbounded: a long credential goes as a whole, and no search starts again inside it.
_KEYS: Final = r"""
LS0tLS1CRUdJTi(?:BSU0Eg|BQUklW|BFQyBQ|BPUEVO|BFTkNS|BEU0Eg)[A-Za-z0-9+/=]{16,}
AKIA(?:(?=[A-Z]{0,15}[0-9])[A-Z0-9]{10,}|[A-Z0-9]{16,})
A(?:SIA|BIA|CCA)(?=[A-Z]{0,15}[0-9])[A-Z0-9]{12,}
ABSK«W»{40,}[+/=A-Za-z0-9]*
sk-(?:ant|or|proj|svcacct|admin|None|lf)-«L»
sk-(?:test|live|prod|dev)-(?=[A-Za-z_-]{0,60}[0-9])«D»{8,}
sk-(?:(?=[A-Za-z]{0,40}[0-9])«W»{10,}|«W»{24,})«D»*
[sr]k_(?:live|test|prod)_«N»
sk_(?:[a-z0-9]{2,8}_)?(?=[a-z]{0,30}[0-9])[0-9a-z]{24,}
whsec_(?:(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9+/=]{8,}|[A-Za-z0-9+/=]{20,})
AIza«D»{20,}
GOCSPX-«D»{10,}
SK[0-9a-f]{32,}
SG\.«D»{10,}\.«D»{10,}
key-[0-9a-f]{32,}
[0-9a-f]{32}-us[0-9]{1,2}(?!«W»)
AGE-SECRET-KEY-(?:PQ-)?1«W»{20,}
A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){2,6}[A-Z0-9]{5,}
NR(?:AK|JS|II|RA)-«W»{16,}
PMAK-«L»
LTAI(?=[A-Za-z]{0,20}[0-9])«W»{12,}
API-(?=[A-Z]{0,25}[0-9])[A-Z0-9]{24,}
(?:gsk|xai|pplx|nvapi|tvly|jina|fw|pcsk|rnd|phx|hc[a-z]ik|esecret)[_-]«N»«D»*
(?:xkeysib|xsmtpsib)-«L»
re_«W»{6,10}_«W»{12,}
sb_secret_«L»
lin_api_«N»
tskey-[a-z]{2,10}-«L»
(?:live|test)_(?=[a-z]{0,20}[0-9])[0-9a-f]{32,}
sq0(?:csp|atp|idp)-«L»
FLWSECK(?:_TEST)?-«L»
EZ[AT]K«W»{40,}
AKCp«W»{40,}
p8e-«W»{24,}
[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}
"""
_TOKENS: Final = r"""
gh[pousr]_«N»
github_pat_«L»
gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt|ffct|oas)-«L»(?:\.«D»+)*
xox[abcdeprs](?:\.xox[a-z])?-«L»
xapp-[0-9]-«L»
ya29\.«L»(?:\.«D»+)*
1//0«D»{20,}
npm_«N»
pypi-(?:AgE«D»{8,}|(?=[A-Za-z]{0,40}[0-9])«W»{16,}«D»*)
(?:hf|api_org)_(?:(?=[A-Za-z]{0,33}[0-9])«W»{8,}|«W»{30,40}(?!«W»))
do[opr]_v1_«N»
[0-9]{6,12}:(?:AA«D»{24,}|(?=[A-Za-z]{0,20}[0-9])«D»{35}(?!«D»))
[MNO]«D»{22,28}\.«D»{6,7}\.«D»{27,}
sntry[sua]_«L»[+/=A-Za-z0-9_.-]*
dapi[0-9a-f]{32,}(?:-[0-9])?
hv[sbr]\.«L»
shp(?:at|ca|pa|ss|tka)_«N»
dckr_(?:pat|oat)_«L»
s-s4t2(?:ud|af)-[0-9a-f]{32,}
sgp_local_«N»
(?:figd|nfp|sbp|r8|sgp|ntn|bkua|tfp|rdme|pnu|pat|vcp|rubygems|sm_aat)_«N»«D»*
(?:pat|sl)[._](?=[a-zA-Z]{0,40}[0-9])«W»{14,}(?:\.[0-9a-f]{32,}|«D»{20,})
secret_(?=[a-zA-Z]{0,40}[0-9])«W»{30,}
CCIPAT_«L»
AT(?:ATT3|BB|CTT3)«D»{20,}[=A-Za-z0-9_-]*
lsv2_(?:pt|sk)_«L»
pul-«N»
gl(?:c|sa)_«L»[+/=A-Za-z0-9_-]*
dp\.(?:pt|st|ct|sa|scim|audit)\.«L»(?:\.«D»+)*
dt0[a-z][0-9]{2}\.«W»{20,}[.A-Z0-9]*
(?:fm[12]|fo1)[ra]?_[A-Za-z0-9+/=_-]{24,}
HRKU-«L»
shippo_(?:live|test)_«N»
EAA«W»{50,}
pscale_(?:tkn|oauth|pw)_«L»
access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f-]{20,}
sha256~«D»{40,}
CFPAT-«L»
SWMTKN-1-«L»
ops_eyJ«D»{40,}
apify_api_«N»
atlasv1\.«L»
"""
_JWT: Final = r"(?<!«D»)(?P<token>eyJ«D»{6,}\.«D»{4,}(?:\.«D»+)*)"


# A run of a dozen characters: it spares most words the long lists.
_RUN: Final = r"(?<![A-Za-z0-9])(?=[A-Za-z0-9~][A-Za-z0-9_.~/:+-]{11})"
# With a digit, or of sixteen characters: a shape without a digit is not shorter.
_CANDIDATE: Final = rf"{_RUN}(?:[A-Za-z_.~/:+-]{{0,14}}[0-9]|[A-Za-z0-9_.~/:+=-]{{16}})"


def shapes(text: str) -> Iterator[Span]:
    """Keys and tokens of the lists, which take long to compile: a text of words needs neither."""
    if not compiled(_CANDIDATE).search(text):
        return
    keys, tokens = "|".join(rules(_KEYS)), "|".join(rules(_TOKENS))
    yield from named(f"{_RUN}(?:(?P<key>{keys})|(?P<token>{tokens}))", text)


def web_tokens(text: str) -> Iterator[Span]:
    if "eyJ" in text:
        yield from named(rules(_JWT)[0], text)
