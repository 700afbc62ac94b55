"""A labeled corpus of secrets and ordinary lines, generated with a fixed seed.

The secrets are random, so none of them is real, and the repository contains no text that looks like
a secret.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

SEED: Final = 16
_PER_KIND: Final = 12
_ORDINARY: Final = 5_000

_ALNUM: Final = string.ascii_letters + string.digits
_UPPER: Final = string.ascii_uppercase + string.digits
_LOWER: Final = string.ascii_lowercase + string.digits
_HEX: Final = "0123456789abcdef"
_BASE64: Final = _ALNUM + "+/"
_URL_SAFE: Final = _ALNUM + "-_"
_KEYWORDS: Final = ("pass", "Pass", "Password", "secret", "Secret", "Key", "Token")
_WORDS: Final = (
    "river copper sunset falcon maple winter orbit velvet harbor tiger garden silver thunder "
    "pepper castle lemon rocket shadow crystal meadow anchor bishop cactus dragon"
).split()

Random = random.Random
Make = Callable[[Random], str]


@dataclass(frozen=True, slots=True)
class Example:
    """A text with a secret; `secret` is empty in an ordinary line."""

    kind: str
    text: str
    secret: str
    is_held_out: bool
    is_memory: bool = False


def make_corpus(seed: int = SEED) -> tuple[Example, ...]:
    """Return all examples. Half of each kind is held out."""
    rng = random.Random(seed)
    return (*_make_secrets(rng), *_make_ordinary(rng))


def _text(alphabet: str, length: int) -> Make:
    return lambda rng: "".join(rng.choices(alphabet, k=length))


def _token(prefix: str, alphabet: str, length: int, suffix: str = "") -> Make:
    # The "|" in a prefix keeps secret scanners from reporting this file.
    return lambda rng: prefix.replace("|", "") + "".join(rng.choices(alphabet, k=length)) + suffix


def _jwt(rng: Random) -> str:
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    body = base64.urlsafe_b64encode(b'{"sub":"%d","admin":true}' % rng.randrange(10**9)).decode()
    return f"{header}.{body.rstrip('=')}.{_text(_URL_SAFE, 43)(rng)}"


def _pem(rng: Random) -> str:
    label = rng.choice(["RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "]) + "PRIVATE KEY"
    lines = [_text(_BASE64, 64)(rng) for _ in range(rng.randint(3, 12))]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


def _pem_in_json(rng: Random) -> str:
    return _pem(rng).replace("\n", "\\n")


def _putty(rng: Random) -> str:
    lines = [_text(_BASE64, 64)(rng) for _ in range(3)]
    return "Private-Lines: 3\n" + "\n".join(lines)


def _password(rng: Random) -> str:
    """Return a typical password: a word with digits and punctuation, or a random string."""
    word = rng.choice(_WORDS)
    return rng.choice(
        [
            f"{word.capitalize()}{rng.randint(1, 9999)}{rng.choice('!#?.')}",
            f"{word}{rng.randint(10, 9999)}",
            f"{word}-{rng.choice(_WORDS)}-{rng.randint(1, 99)}",
            word.replace("e", "3").replace("o", "0") + rng.choice("!_#") + str(rng.randint(1, 99)),
            f"Password{rng.randint(10, 999)}!",
            f"{word}{rng.randint(10, 9999)}{rng.choice(_KEYWORDS)}",
            word.replace("e", "3").replace("o", "0").replace("i", "1") + rng.choice(_KEYWORDS),
            _text(_ALNUM + "!#_-+", rng.randint(10, 20))(rng),
        ]
    )


def _basic(rng: Random) -> str:
    return base64.b64encode(f"admin:{_password(rng)}".encode()).decode()


def _mnemonic(rng: Random) -> str:
    return " ".join(rng.choices(_WORDS, k=12))


_FILE_FRAMES: Final = (
    "TOKEN = '{}'",
    'const client = connect("{}");',
    "export SERVICE_TOKEN={}",
    "  token: {}",
    '{{"token": "{}", "retries": 3}}',
    "# deployed with {} until May",
    "curl https://api.test/v1 -H 'X-Token: {}'",
    "ENV TOKEN {}",
)
_MEMORY_FRAMES: Final = (
    "the deploy job of staging uses {} for uploads",
    "remember that the token is {}",
    "use {} when the first one expires",
    "the CI logs in with {}, which Ana rotates in May",
)
_PASSWORD_FILES: Final = (
    "DB_PASSWORD={}",
    "password={}",
    "password = {}",
    "spring.datasource.password={}",
    "  password: {}",
    '  password: "{}"',
    "password: '{}'",
    '  "password": "{}",',
    'conn = connect(host="db", password="{}")',
    "self.password = '{}'",
    "const dbPassword = '{}';",
    'password: str = "{}"',
    "define('DB_PASSWORD', '{}');",
    "<password>{}</password>",
    '<add key="Password" value="{}" />',
    "Server=db;Database=shop;User Id=sa;Password={};",
    "mysqldump --user=root --password={} shop > dump.sql",
    "export PGPASSWORD={}",
    "      - MYSQL_ROOT_PASSWORD={}",
    "ENV ADMIN_PASS={}",
    "requirepass: true, passphrase: '{}'",
)
_PASSWORD_MEMORIES: Final = (
    "the admin password is {}",
    "the password of the test account was {} until May",
    "staging: user admin, password: {}",
    "log in with password={} as admin",
    "DB_PASSWORD is {} on the old machine",
)
_SECRET_FILES: Final = (
    "SECRET_KEY = '{}'",
    "API_KEY={}",
    "api_key: {}",
    'api-key: "{}"',
    '"apiKey": "{}",',
    'config["client_secret"] = "{}"',
    "aws_secret_access_key = {}",
    'String accessKey = "{}";',
    "secret_key_base: {}",
    "const ENCRYPTION_KEY = `{}`;",
    "JWT_SECRET={}",
    "auth_token: '{}'",
    "x-api-key: {}",
    "DATADOG_API_KEY: {}",
)
_SECRET_MEMORIES: Final = (
    "set API_KEY={} before the tests",
    "the client_secret: {} is rotated in May",
    "the api key is {}",
    "remember the token {!s} is valid: token={}",
)
_FILE: Final = ("{}",)

# Kind of secret, function that makes one, and the texts around it in files and in memories.
_KINDS: Final[Sequence[tuple[str, Make, Sequence[str], Sequence[str]]]] = (
    ("AWS access key", _token("AK|IA", _UPPER, 16), _FILE_FRAMES, _MEMORY_FRAMES),
    ("AWS session key", _token("AS|IA", _UPPER, 16), _FILE_FRAMES, _MEMORY_FRAMES),
    ("GitHub token", _token("gh|p_", _ALNUM, 36), _FILE_FRAMES, _MEMORY_FRAMES),
    ("GitHub app token", _token("gh|s_", _ALNUM, 36), _FILE_FRAMES, _MEMORY_FRAMES),
    ("GitHub fine-grained", _token("github|_pat_", _ALNUM, 82), _FILE_FRAMES, _MEMORY_FRAMES),
    ("GitLab token", _token("gl|pat-", _URL_SAFE, 20), _FILE_FRAMES, _MEMORY_FRAMES),
    ("GitLab runner token", _token("gl|rt-", _URL_SAFE, 20), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Slack bot token", _token("xo|xb-1234567890-", _ALNUM, 24), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Slack app token", _token("xa|pp-1-A", _ALNUM, 40), _FILE_FRAMES, _MEMORY_FRAMES),
    (
        "Slack webhook",
        _token("https://hooks.sl|ack.com/services/T0/B0/", _ALNUM, 24),
        _FILE_FRAMES,
        _MEMORY_FRAMES,
    ),
    (
        "Discord webhook",
        _token("https://discord.com/api/web|hooks/112233445566778899/", _URL_SAFE, 68),
        _FILE_FRAMES,
        _MEMORY_FRAMES,
    ),
    ("Stripe key", _token("sk|_live_", _ALNUM, 24), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Stripe webhook secret", _token("wh|sec_", _ALNUM, 32), _FILE_FRAMES, _MEMORY_FRAMES),
    ("OpenAI key", _token("sk|-proj-", _URL_SAFE, 74), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Anthropic key", _token("sk|-ant-api03-", _URL_SAFE, 93, "AA"), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Google API key", _token("AI|za", _URL_SAFE, 35), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Google OAuth secret", _token("GOC|SPX-", _URL_SAFE, 28), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Hugging Face token", _token("h|f_", string.ascii_letters, 34), _FILE_FRAMES, _MEMORY_FRAMES),
    ("npm token", _token("np|m_", _ALNUM, 36), _FILE_FRAMES, _MEMORY_FRAMES),
    ("PyPI token", _token("py|pi-AgEIcHlwaS5vcmc", _URL_SAFE, 70), _FILE_FRAMES, _MEMORY_FRAMES),
    ("SendGrid key", _token("S|G.", _ALNUM, 22, "." + "a1B2" * 10), _FILE_FRAMES, _MEMORY_FRAMES),
    ("DigitalOcean token", _token("do|p_v1_", _HEX, 64), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Shopify token", _token("shp|at_", _HEX, 32), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Docker Hub token", _token("dck|r_pat_", _URL_SAFE, 27), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Databricks token", _token("da|pi", _HEX, 32), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Vault token", _token("hv|s.", _URL_SAFE, 90), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Grafana token", _token("gl|sa_", _ALNUM, 32, "_0a1b2c3d"), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Linear key", _token("lin|_api_", _ALNUM, 40), _FILE_FRAMES, _MEMORY_FRAMES),
    ("Twilio key", _token("S|K", _HEX, 32), _FILE_FRAMES, _MEMORY_FRAMES),
    ("New Relic key", _token("NR|AK-", _UPPER, 27), _FILE_FRAMES, _MEMORY_FRAMES),
    ("age key", _token("AGE-SECRET|-KEY-1", _UPPER, 58), _FILE_FRAMES, _MEMORY_FRAMES),
    ("JSON web token", _jwt, _FILE_FRAMES, _MEMORY_FRAMES),
    ("private key", _pem, ("{}", "key: |\n  {}", "cert, then\n{}\nthe rest"), ("the key is\n{}",)),
    ("private key in JSON", _pem_in_json, ('"private_key": "{}\\n",', "KEY = '{}'"), ("it is {}",)),
    ("PuTTY key", _putty, ("Comment: ana\n{}\nPrivate-MAC: 0",), ("the file has\n{}\nin it",)),
    (
        "password in a URL",
        _password,
        (
            "DATABASE_URL=postgres://app:{}@db:5432/shop",
            'redis = connect("redis://:{}@cache:6379/0")',
            "amqp://worker:{}@queue/vhost",
            "git clone https://ana:{}@git.test/shop.git",
        ),
        ("the database is postgres://app:{}@db/shop in tests",),
    ),
    ("password", _password, _PASSWORD_FILES, _PASSWORD_MEMORIES),
    ("password of a command", _password, ("sshpass -p {} ssh ana@host", "tool --password {}"), ()),
    ("netrc password", _password, ("machine git.test login ana password {}",), ()),
    (
        "basic authentication",
        _basic,
        ("Authorization: Basic {}", "-H 'Authorization: Basic {}'", '"auth": "{}"'),
        ("requests send Authorization: Basic {}",),
    ),
    (
        "bearer token",
        _text(_URL_SAFE, 40),
        (
            "Authorization: Bearer {}",
            '"Authorization": "Bearer {}"',
            "-H 'authorization: bearer {}'",
        ),
        ("the API wants Authorization: Bearer {}",),
    ),
    ("random secret", _text(_ALNUM, 40), _SECRET_FILES, _SECRET_MEMORIES[:3]),
    ("hexadecimal secret", _text(_HEX, 32), _SECRET_FILES, _SECRET_MEMORIES[:3]),
    ("base64 secret", _token("", _BASE64, 43, "="), _SECRET_FILES, _SECRET_MEMORIES[:3]),
    (
        "storage account key",
        _token("", _BASE64, 86, "=="),
        ("DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core",),
        (),
    ),
    (
        "npm registry token",
        _text(_LOWER, 36),
        ("//registry.npmjs.org/:_authToken={}", "//npm.test/:_authToken={}"),
        (),
    ),
    (
        "signed URL",
        _text(_ALNUM, 44),
        ("https://shop.blob.test/a?se=2030-01-01&sp=r&sig={}",),
        ("the dump is at https://shop.blob.test/a?sp=r&sig={}",),
    ),
    ("recovery phrase", _mnemonic, ("seed phrase: {}",), ("the recovery phrase is {}",)),
)


def _make_secrets(rng: Random) -> Iterator[Example]:
    for kind, make, files, memories in _KINDS:
        for number in range(_PER_KIND):
            # The held-out half (every second number) and the other half both contain files and
            # memories.
            is_memory = bool(memories) and number % 4 >= 2
            frame = rng.choice(memories if is_memory else files)
            secret = make(rng)
            yield Example(kind, frame.format(secret), secret, number % 2 == 1, is_memory)


_ORDINARY_FRAMES: Final = (
    "pwd=/home/{w}/{w2}",
    "next_token: page{n}of{m}abc",
    "page_token = 'page-{n}'",
    "max_tokens={n}",
    "token: str = next({w}_tokens)",
    "password: str",
    "password: string;",
    "def login(self, user: str, password: str) -> None:",
    "password = getpass.getpass()",
    "password=settings.{w}_password,",
    'password = os.environ["{u}_PASSWORD"]',
    "api_key: ${{{u}_KEY}}",
    "DB_PASSWORD={{{{ vault.{w} }}}}",
    "token = tokens[{n}];",
    "if (token->type == TOK_{u}) return {n};",
    'raise ValueError("the password of {w} is wrong")',
    "password hashing uses argon2 with {n} MB",
    "The token expires after {n} seconds.",
    "the secret is to warm the {w} first",
    'label = "Password"',
    '"password": "Your password",',
    '"password": "{w}_password"',
    "password: {w}Password,",
    "password_key = 'oauth2_{w}_token'",
    'placeholder="Enter your {w} password"',
    "secretName: {w}-tls-{n}",
    "secretKeyRef:",
    "key: {w}-{n}",
    'cache_key = "{w}:{n}"',
    "primary_key=True",
    "partition_key: customer_{n}",
    "PUBLIC_KEY_ID = {n}",
    "public_key_token = b03f5f7f11d50a3a",
    "sha256:{h}{h}",
    "commit {h}",
    '"integrity": "sha512-{h}",',
    "see https://docs.test:84{n}/{w}/{w2} and mail {w}@test.org",
    "const tokenizer = new Tokenizer({n});",
    "tokenType: 'bearer'",
    "token_endpoint: https://{w}.test/oauth/token",
    "password_file: /run/secrets/{w}",
    "bypass = {n}",
    "compass: {w}{n}",
    "    pass  # {w} {n}",
    "for key, value in {w}.items():",
    'author = "{w} {w2}"',
    "auth: required",
    "Authorization: Bearer <token>",
    "the {w} is authorized by the basic {w2} module",
    "uuid = '{h:.8}-{h:.4}-4a3b-8c2d-{h:.12}'",
    "x = {w}({n}, {m})",
    "return {w}.{w2}[{n}:{m}]",
    "# {w} the {w2} before {n}",
    "import {w}.{w2} as {w}{n}",
    "#define {u}_{n} 0x{h:.8}",
    '<div class="{w}-{w2} col-{n}">',
    'version = "{n}.{m}.1"',
    "SELECT {w}, {w2} FROM {w}s WHERE id = {n};",
    "git checkout -b {w}/{w2}-{n}",
    "assert {w} == {n}",
    "password == other.password",
    "session = Session({w})",
    "session_id = request.cookies['{w}']",
)


def _make_ordinary(rng: Random) -> Iterator[Example]:
    for number in range(_ORDINARY):
        frame = _ORDINARY_FRAMES[number % len(_ORDINARY_FRAMES)]
        word, other = rng.sample(_WORDS, 2)
        text = frame.format(
            w=word,
            w2=other,
            u=word.upper(),
            n=rng.randrange(1, 10_000),
            m=rng.randrange(1, 100),
            h=_text(_HEX, 40)(rng),
        )
        yield Example("ordinary", text, "", number % 2 == 1, number % 4 >= 2)
