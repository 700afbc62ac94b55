"""Formats of secrets that can be recognized by a prefix, as their issuers document them.

The rules of gitleaks (https://github.com/gitleaks/gitleaks, MIT license) list most of the prefixes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

PRIVATE_KEY: Final = "private key"
POSSIBLE_KEY: Final = "possible private key"
API_KEY: Final = "API key"
PASSWORD: Final = "password"
SECRET: Final = "secret"

WEB_TOKEN_START: Final = "eyJ"
_TOKEN: Final = re.compile(r"[\w-]+")

# Maps each kind of secret to pairs of regular expressions: one for the prefix, one for the rest. A
# group named "value" limits what is masked. Prefixes must also be valid in RE2.
_FORMATS_BY_KIND: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "AWS access key": (("(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])", r"[A-Z0-9]{16}\b"),),
    "GitHub token": (
        ("gh[pousr]_", r"[A-Za-z0-9]{36,255}\b"),
        ("github_pat_", r"[A-Za-z0-9_]{22,255}\b"),
    ),
    "GitLab token": (
        ("gl(?:pat|ptt|dt|rt|cbt|oas|ft|soat|imt|agent|ffct)-", r"[\w.-]{20,}"),
        ("GR1348941", r"[\w-]{20,}"),
    ),
    "Slack token": (
        ("xox[abeoprs]-", r"[A-Za-z0-9-]{10,}"),
        (r"xoxe\.xox[bp]-", r"[A-Za-z0-9-]{10,}"),
        (r"xapp-\d-", r"[A-Za-z0-9-]{10,}"),
    ),
    "webhook": (
        (r"https://hooks\.slack\.com/(?:services|workflows|triggers)/", r"[\w/+]{20,}"),
        (r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/", r"\d{15,}/[\w-]{40,}"),
        (r"https://[a-z0-9]+\.webhook\.office\.com/webhookb2/", r"[\w@/-]{40,}"),
    ),
    "Stripe key": (("[sr]k_(?:live|test|prod)_", r"[A-Za-z0-9]{16,}"), ("whsec_", r"\w{24,}")),
    API_KEY: (
        # OpenAI, Anthropic and others. The digit and the ten characters without a separator exclude
        # names that consist of words, such as `sk-ssh-ed25519-cert-v01`.
        (
            "sk-[A-Za-z0-9_-]{16}",
            r"(?<=sk-(?=[\w-]{0,80}?\d)(?=[\w-]{0,80}?[A-Za-z0-9]{10})[A-Za-z0-9_-]{16})"
            r"[A-Za-z0-9_-]{4,}",
        ),
        ("AIza", r"[\w-]{35}"),  # Google
        (r"ya29\.", r"[\w-]{30,}"),
        ("GOCSPX-", r"[\w-]{28}"),
        ("hf_", r"[A-Za-z0-9]{30,}\b"),
        ("npm_", r"[A-Za-z0-9]{36}\b"),
        ("pypi-", r"[\w-]{50,}"),
        (r"SG\.", r"[\w-]{16,}\.[\w-]{16,}"),
        ("do[opr]_v1_", r"[a-f0-9]{64}\b"),
        ("shp(?:at|ca|pa|ss)_", r"[a-fA-F0-9]{32}\b"),
        ("sq0(?:atp|csp|idp)-", r"[\w-]{22,}"),
        ("dckr_(?:pat|oat)_", r"[\w-]{20,}"),
        ("dapi[a-f0-9]{8}", r"[a-f0-9]{24}(?:-\d)?\b"),  # Databricks
        (r"dp\.(?:pt|st|ct|scim|audit)\.", r"[A-Za-z0-9.]{40,}"),  # Doppler
        (r"dt0c01\.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}\b"),  # Dynatrace
        ("gl(?:c|sa)_", r"[A-Za-z0-9+/_]{32,}"),  # Grafana
        (r"hv[sbr]\.", r"[\w-]{24,}"),  # Vault
        (r"\.atlasv1\.", r"[\w-]{60,}"),  # Terraform Cloud
        ("lin_(?:api|oauth)_", r"[A-Za-z0-9]{32,}"),
        ("ntn_", r"[A-Za-z0-9]{40,}"),  # Notion
        ("secret_[A-Za-z0-9]{20}", r"[A-Za-z0-9]{23}\b"),  # Notion
        ("PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),  # Postman
        ("pul-", r"[a-f0-9]{40}\b"),
        ("rubygems_", r"[a-f0-9]{48}\b"),
        ("sntry[su]_", r"[\w+/=-]{40,}"),
        ("xkeysib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
        ("key-[a-f0-9]{8}", r"[a-f0-9]{24}\b"),  # Mailgun
        ("SK[a-f0-9]{8}", r"[a-f0-9]{24}\b"),  # Twilio
        ("NRAK-", r"[A-Z0-9]{27}\b"),  # New Relic
        ("NRII-", r"[\w-]{32}"),
        ("EAA[A-Z]", r"[A-Za-z0-9]{80,}"),  # Facebook
        ("pplx-", r"[A-Za-z0-9]{40,}"),
        ("gsk_", r"[A-Za-z0-9]{40,}"),  # Groq
        ("r8_", r"[A-Za-z0-9]{37}\b"),  # Replicate
        ("fo1_", r"[\w-]{43}"),  # Fly.io
        ("fm[12][a-z]?_", r"[A-Za-z0-9+/]{80,}"),
        ("ATATT3", r"[\w=-]{100,}"),  # Atlassian
        ("CFPAT-", r"[\w-]{40,}"),  # Contentful
        ("pscale_(?:tkn|oauth|pw)_", r"[\w.=-]{32,}"),
        ("LTAI", r"[A-Za-z0-9]{16,24}\b"),  # Alibaba
        (r"AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}"),
        (r"sha256~", r"[\w-]{43}\b"),  # OpenShift
        ("ops_eyJ", r"[A-Za-z0-9+/=_-]{60,}"),  # 1Password
        (":AA", r"[\w-]{33}\b"),  # Telegram
        ("[0-9]Q~", r"[\w~.-]{31,34}"),  # Azure
        ("AKCp", r"[A-Za-z0-9]{60,}"),  # Artifactory
        ("tfp_", r"[\w.=-]{50,}"),  # Typeform
        (r"(?:test|live)_(?:pub|sec|key)_", r"[a-f0-9]{32,}\b"),
        (r"access_token\$", r"(?:production|sandbox)\$\w{12,}\$[a-f0-9]{32}"),  # Braintree
        ("figd_", r"[\w-]{40}"),
        ("sbp_", r"[a-f0-9]{40}\b"),  # Supabase
        ("re_[A-Za-z0-9]{8}_", r"[A-Za-z0-9]{24}\b"),  # Resend
        ("nfp_", r"[A-Za-z0-9]{36}\b"),  # Netlify
    ),
    "JSON web token": ((WEB_TOKEN_START, r"[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),),
    "bearer token": (
        (r"(?i:bearer|basic) ", r" *(?P<value>(?=\S*\d)[\w.~+/=-]{16,})"),
        (r"(?i:authorization)[\"': ]+(?:token|apikey) ", r" *(?P<value>(?=\S*\d)[\w.~+/=-]{16,})"),
        (r"(?i:authorization[\"': ]+basic) ", r" *(?P<value>[A-Za-z0-9+/=]{8,})"),
    ),
    PASSWORD: (
        # The user name of a URL is part of the prefix, so that most URLs, which have none, do not
        # match.
        ("://[^\\s/:@\"'`<>{}$]{0,80}:", r"(?P<value>[^\s/@\"'`<>{}\[\]$*(),;]{2,200})@"),
        ("sshpass -p *", r"['\"]?(?P<value>[^\s'\"$]{4,})"),
        (" (?:-u|--user)[ =]", r"['\"]?[\w.@-]{1,60}:(?!//)(?P<value>(?=\S*\d)[^\s'\"$<{]{6,})"),
        ("mysql[a-z]* ", r"(?:[^\n|]{0,80}? )?-p['\"]?(?P<value>[^\s'\"$<{-][^\s'\"$<{]{3,})"),
        ("docker login ", r"(?:[^\n|]{0,80}? )?-p *['\"]?(?P<value>[^\s'\"$<{-][^\s'\"$<{]{3,})"),
        # Formats of netrc. Without "machine", the text may be a sentence about logins and
        # passwords, so the second pattern is stricter.
        (r"machine [^\s]", r"\S{0,80}\s+login\s+\S{1,80}\s+password[ \t]+(?P<value>\S{4,})"),
        (
            r"login [^\s]",
            r"\S{0,80}\s+password[ \t]+(?P<value>(?=\S*[^\s\w.,:;!?)'’-]|\S*\d)\S{4,})",
        ),
        (
            r"\n[ \t]*password ",
            r"(?P<value>(?=\S*\d)(?=\S*[A-Za-z])[^\s'\"(){}:,;=]{6,})[ \t]*(?=\n|\Z)",
        ),
        ("(?:requirepass|masterauth) ", r"(?P<value>(?=\S*\d)[^\s'\"]{6,})"),
        ("redis-cli ", r"(?:[^\n|]{0,80}? )?-a *(?P<value>(?=\S*\d)[^\s'\"$]{6,})"),
        ("(?i:identified by|(?:with|encrypted) password) ", r"['\"](?P<value>[^'\"\n]{4,})['\"]"),
        (
            r"(?i:auth ?= ?\(|basicauth\()",
            r"\s*['\"][^'\"\n]{1,80}['\"], ?['\"](?P<value>[^'\"\n]{4,})['\"]",
        ),
    ),
    # In files such as those of Docker Compose, each "$" is doubled. A comma ends a hash, because a
    # list of users can contain several hashes; only the parameters of Argon2 contain commas.
    "password hash": (
        (r"\${1,2}(?:[156y]|apr1|2[aby])\${1,2}", r"[\w./$=+-]{20,}"),
        (r"\${1,2}argon2i?d?\${1,2}", r"(?:[\w./$=+-]|,(?=(?:[mtp]|keyid|data)=)){20,}"),
    ),
    SECRET: (
        ("(?:[?&;]sig|ignature)=", r"(?P<value>[\w%+/=-]{20,})"),
        (
            "(?i:seed|recovery|mnemonic) ?(?i:phrase)?",
            r"(?i: is)?[:=\" ]{1,4}(?P<value>(?:[a-z]{3,8} ){11,23}[a-z]{3,8}\b)",
        ),
    ),
}

FORMATS: Final = [(kind, *row) for kind, rows in _FORMATS_BY_KIND.items() for row in rows]
# A regular expression in the syntax of RE2.
PREFIXES: Final = "|".join(prefix for _, prefix, _ in FORMATS)
# The characters with which each prefix begins; "" if they vary.
_LITERALS: Final = [re.split(r"[^\w:/-]", prefix, maxsplit=1)[0] for _, prefix, _ in FORMATS]
# Maps a character to the rows of FORMATS whose prefix may begin with it, in order. `_OTHER_ROWS`
# are the rows for all other characters.
_ROWS_BY_START: Final = {
    start: [at for at, literal in enumerate(_LITERALS) if literal[:1] in ("", start)]
    for start in {literal[0] for literal in _LITERALS if literal}
}
_OTHER_ROWS: Final = [at for at, literal in enumerate(_LITERALS) if not literal]


def match_format(text: str, start: int) -> tuple[str, int, int] | None:
    """Return the kind and the range of the secret that starts at a position; None if none does."""
    for at in _ROWS_BY_START.get(text[start : start + 1], _OTHER_ROWS):
        if not text.startswith(_LITERALS[at], start):
            continue
        pattern = _compile_row(at)
        has_value = "value" in pattern.groupindex
        # Check this before matching. A match may be long and contain further candidates, and would
        # be read again for each of them.
        if not has_value and is_inside_word(text, start):
            continue
        match = pattern.match(text, start)
        if match is not None:
            return FORMATS[at][0], *match.span("value" if has_value else 0)
    return None


def end_of_token(text: str, start: int) -> int:
    """Return the end of the run of letters, digits, `_` and `-` that starts at a position."""
    found = _TOKEN.match(text, start)
    return start if found is None else found.end()


@cache
def _compile_row(at: int) -> re.Pattern[str]:
    _, prefix, rest = FORMATS[at]
    return re.compile(prefix + rest)


def is_inside_word(text: str, start: int) -> bool:
    """Return whether a letter or digit is at a position, and a letter, digit or "_" before it."""
    if not start or not text[start].isalnum():
        return False
    return text[start - 1].isalnum() or text[start - 1] == "_"
