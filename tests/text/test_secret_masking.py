"""Masking of secrets: known formats, and harmless texts that look similar."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.text.secret_detection import find_secrets
from rootle.text.secret_formats import FORMATS
from rootle.text.secret_masking import mask_patch, mask_secrets
from rootle.text.secret_names import ASSIGNMENTS, may_contain_secret

# Concatenated, so that no secret scanner reports this file.
GITHUB = "ghp_" + "a1B2" * 9
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
JWT = "eyJhbGciOiJI" + ".eyJzdWIiOiIx" + ".dozjgNryP4J3jVmN"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    (f"the deploy key of staging is {AWS} for now", AWS, "AWS access key"),
    (f"clone with {GITHUB} from the mirror", GITHUB, "GitHub token"),
    ("the fine one: github_pat_" + "1a" * 15 + " is for reading", "1a1a", "GitHub token"),
    ("GitLab runners use glpat-" + "x9" * 10 + " here", "x9x9", "GitLab token"),
    ("the bot posts with xoxb-" + "123456789012-abcdef in chat", "123456789012", "Slack token"),
    ("alerts go to https://hooks.slack.com/services/" + "T00/B00/" + "x" * 24, "T00", "webhook"),
    ("billing uses sk_live_" + "4eC39HqLyjWDarjt" + " in production", "4eC39", "Stripe key"),
    ("the model is called with sk-proj-" + "a9" * 12 + " by default", "a9a9", "API key"),
    ("maps are drawn with AIza" + "Sy" * 17 + "1 as the key", "SySy", "API key"),
    ("uploads need pypi-" + "Ag" * 30 + " in CI", "AgAg", "API key"),
    (f"requests carry {JWT} in the cookie", JWT, "JSON web token"),
    ("send Authorization: Bearer abcdef0123456789abcdef to the API", "abcdef01", "bearer token"),
    (f"the server's certificate is signed by\n{PEM}\nand renewed in May", "MIIEow", "private key"),
    ("an unfinished paste of the key:\n" + PEM[:40] + "AAAA", "AAAA", "private key"),
    ("the database is postgres://app:hunter2@db/main in tests", "hunter2", "password"),
    ("staging logs in with password=hunter2 as admin", "hunter2", "password"),
    ("staging logs in with password = 'correct horse battery' there", "horse", "password"),
    ('the compose file says "DB_PASSWORD": "s3cr3t!" for all', "s3cr3t", "password"),
    ("the admin password is hunter2 on the test machine", "hunter2", "password"),
    ("the deploy key is on paper and password hunter2 is not", "hunter2", "password"),
    ("the user is ana, pw hunter2, on port 80", "hunter2", "password"),
    ("log in as ana (passphrase 'S3cret!x') for now", "S3cret", "password"),
    ("the password for staging is now hunter2x", "hunter2", "password"),
    ("das Passwort ist hunter2 auf dem alten Rechner", "hunter2", "password"),
    ("the account of the tests, password: hunter", "hunter", "password"),
    ("set API_KEY=8f14e45fceea167a before the tests", "8f14e45f", "secret"),
    ("the client_secret: 8f14e45fceea167a is rotated monthly", "8f14e45f", "secret"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG in the old file", "wJalr", "secret"),
]

HARMLESS = [
    "The user prefers pytest -q and hates long tracebacks",
    "password hashing uses argon2 with 64 MB of memory",
    "the password PBKDF2 derives, sha256 of a password base64 encoded, and password v2.1",
    "the column password field2 is empty, like the passwords user1234 and user1235",
    "the password is required, and is asked for twice",
    "password: stored in the vault of the team",
    "set password=settings.password in the fixture",
    "password = getpass() asks on the terminal",
    "max_tokens=4096 is the default, token: str in the signature",
    "the secret is to warm the cache first",
    "Basic authentication is off, bearer tokens are on",
    "the token expires after 3600 seconds",
    "api_key: ${OPENAI_KEY} in the sample file",
    "see https://docs.example.org:8443/path and mail me@example.org",
    "commit 8f14e45fceea167a5a36dedd4bea2543ac1b0e22 broke it",
    "sk-learn is not installed",
]


def test_the_mask_of_a_password_hash_ends_where_the_hash_ends() -> None:
    md5 = "$apr1$H6uskkkW$IgXLP6ewTrSuBkTrqE8wj/"
    bcrypt = "$2y$10$" + "abcdefghijklmnopqrstuv" + "wxyzABCDEFGHIJKLMNOPQRSTUVWXYZ12"
    argon = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG"
    for value in (md5, bcrypt, argon):
        for text in (value, value.replace("$", "$$")):
            masked = mask_secrets(f"users=test:{text},test2:{text}, all of them")
            mask = "[masked: password hash]"
            assert masked.text == f"users=test:{mask},test2:{mask}, all of them"


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS, ids=[case[2] for case in SECRETS])
def test_only_the_secret_is_masked(text: str, secret: str, kind: str) -> None:
    found = mask_secrets(text)
    assert secret not in found.text
    assert found.kinds == (kind,)
    assert f"[masked: {kind}]" in found.text
    assert found.text.split()[0] == text.split()[0], "the rest of the fact is unchanged"
    assert not found.is_only_secrets


@pytest.mark.parametrize("text", HARMLESS)
def test_a_text_about_secrets_is_unchanged(text: str) -> None:
    assert mask_secrets(text).text == text
    assert mask_secrets(text).kinds == ()


@pytest.mark.parametrize("text", [GITHUB, PEM, f"token: {GITHUB}", "password=hunter2", f" {AWS}\n"])
def test_a_text_can_consist_only_of_a_secret(text: str) -> None:
    assert mask_secrets(text).is_only_secrets


@pytest.mark.parametrize("text", [text for text, _, _ in SECRETS])
def test_masking_is_idempotent(text: str) -> None:
    once = mask_secrets(text).text
    assert mask_secrets(once).text == once


def test_several_secrets_are_masked() -> None:
    found = mask_secrets(f"first {AWS}, then {GITHUB}, last password=hunter2 and done")
    assert found.kinds == ("AWS access key", "GitHub token", "password")
    assert found.text == (
        "first [masked: AWS access key], then [masked: GitHub token], "
        "last password=[masked: password] and done"
    )


def test_a_long_text_is_masked_in_linear_time() -> None:
    text = ("password " * 2_000 + "a-" * 10_000 + " eyJ" + "x" * 20_000 + "://" * 2_000)[:60_000]
    assert mask_secrets(text).kinds == ()
    assert mask_secrets(f"password='{'token' * 50_000}1!'").count == 1


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=Password123!", "Password123!"),
        ("DB_PASS=sunshine", "sunshine"),
        ("  password: sunshine", "sunshine"),
        ("<password>Tr0ub4dor3</password>", "Tr0ub4dor3"),
        ("define('DB_PASSWORD', 'Tr0ub4dor3');", "Tr0ub4dor3"),
        ("- name: DB_PASSWORD\n  value: Tr0ub4dor3", "Tr0ub4dor3"),
        ('password: str = "Tr0ub4dor3"', "Tr0ub4dor3"),
        ("Server=db;User Id=sa;Password=Tr0ub4dor3;", "Tr0ub4dor3"),
        ("CREATE USER app IDENTIFIED BY 'Tr0ub4dor3';", "Tr0ub4dor3"),
        ("curl -u ana:Tr0ub4dor3 https://api.test", "Tr0ub4dor3"),
        ("mysql -u root -pTr0ub4dor3 shop", "Tr0ub4dor3"),
        ("tool --password Tr0ub4dor3", "Tr0ub4dor3"),
        ("password = correcthorsebatterystaple", "correcthorse"),
        ("password = correcthorsebatterystaple  # of staging", "correcthorse"),
        ("The admin password of staging is correcthorsebatterystaple.", "correcthorse"),
        ("the password for the staging server is Tr0ub4dor3!", "Tr0ub4dor3"),
        ("//registry.npmjs.org/:_authToken=8f14e45fceea167a5a36", "8f14e45f"),
        ("X-Api-Key: q9Zk3LmT7xWv2RbN8sYd", "q9Zk3LmT"),
        ('requests.get(url, auth=("ana", "Tr0ub4dor3"))', "Tr0ub4dor3"),
        # Secret values with a word such as "Pass", which is usually part of the name of a setting.
        ('DB_PASSWORD="W1nter2024Pass"', "W1nter"),
        ("MYSQL_ROOT_PASSWORD=MyR00tPassword1", "R00t"),
        ('{"password": "Sup3rSecret"}', "Sup3r"),
        ("spring.datasource.password=Adm1nPass", "Adm1n"),
        ("postgres://admin:MyS3cretPass@db.prod/app", "S3cret"),
        ("https://ci:Xy7deployToken@git.test/x.git", "Xy7"),
        ("curl -u admin:MyS3cretPass https://x.test", "S3cret"),
        ("mysql -uroot -pMyS3cretPass app", "S3cret"),
        ("jwt_secret: 8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c-key", "8f7a6b5c"),
        ("the db password is MyS3cretPass", "S3cret"),
        ("password is hunter2secret!", "hunter2"),
        ("DB_PASSWORD=monkey", "monkey"),
        ('#define WIFI_PASSWORD "Tr0ub4dor3"', "Tr0ub4dor3"),
        ('#define API_KEY "a1b2c3d4e5f6a7b8c9d0"', "a1b2c3"),
        ('char password[] = "Tr0ub4dor3";', "Tr0ub4dor3"),
        ('app.secret_key = b"9f8e7d6c5b4a3928"', "9f8e7d"),
        ("app.secret_key = b'_5#y2L\"F4Q8z\\n\\xec]/'", "F4Q8z"),
        ('password = r"Tr0ub4dor3"', "Tr0ub4dor3"),
        ('password = """Tr0ub4dor3"""', "Tr0ub4dor3"),
        ('var password = @"Tr0ub4dor3";', "Tr0ub4dor3"),
        ('let password = #"Tr0ub4dor3"#', "Tr0ub4dor3"),
        ('std::string password = R"(Tr0ub4dor3)";', "Tr0ub4dor3"),
        (r'{"password": "Zx9\\qwerty77"}', "qwerty77"),
        (r'"client_secret": "abc\/def+123/ghi=="', "ghi"),
        (r"password = 'it\'s-S3cret-long'", "S3cret-long"),
        ("password: 'It''s9pass'", "s9pass"),
        ('password = "It\'s9pass"', "s9pass"),
        (r'"db_password": "aB3$xyz\"9tail"', "9tail"),
        ('export DB_PASSWORD="blue horse 42 staple"', "staple"),
        ('PGPASSWORD="abc def9"', "def9"),
        ("PASSWORD ?= Tr0ub4dor3", "Tr0ub4dor3"),
        ("url=pg://app:${DB_PASSWORD:-Tr0ub4dor3}@db", "Tr0ub4dor3"),
        ('${DB_PASSWORD:="Tr0ub4dor3"}', "Tr0ub4dor3"),
        ('password ||= "Tr0ub4dor3"', "Tr0ub4dor3"),
        ("ENV MYSQL_ROOT_PASSWORD rootpw123", "rootpw123"),
        ("ENV API_KEY a1b2c3d4e5f6a7b8c9d0", "a1b2c3"),
        ('setx API_SECRET "9sdf8sdf7sdf6sdf5"', "9sdf8"),
        ('<entry key="password">Tr0ub4dor3!</entry>', "Tr0ub4dor3"),
        ('$password = ConvertTo-SecureString "Ps9pass!" -AsPlainText', "Ps9pass!"),
        ("$pass = ConvertTo-SecureString -String 'Ps9pass!' -Force", "Ps9pass!"),
        ('password = r"Raw9string!"', "Raw9string!"),
        (r'"{\"password\": \"Abc9!xyz\"}"', "Abc9!xyz"),
        ("PASSWORD ?= Make9pass", "Make9pass"),
        ('password ||= "Ruby9pass!"', "Ruby9pass!"),
        ("machine git.test login ana password sunshine", "sunshine"),
        ("machine git.test\n  login ana\n  password Tr0ub4dor3", "Tr0ub4dor3"),
        ("Driver=pg;UID=sa;PWD=Tr0ub4dor3;", "Tr0ub4dor3"),
        # Default values of parameters, in blocks of Terraform, CloudFormation and ARM templates.
        (
            'variable "db_password" {\n  type = string\n  default = "Tr0ub4dor3"\n}',
            "Tr0ub4dor3",
        ),
        (
            "  DBPassword:\n    Type: String\n    NoEcho: true\n    Default: Tr0ub4dor3",
            "Tr0ub4dor3",
        ),
        ('"adminPassword": {\n  "type": "secure",\n  "defaultValue": "Tr0ub4dor3"', "Tr0ub4dor3"),
        ('"adminPassword": {"value": "Tr0ub4dor3"}', "Tr0ub4dor3"),
    ],
)
def test_a_secret_in_a_file_is_masked(text: str, secret: str) -> None:
    masked = mask_secrets(text).text
    assert secret not in masked
    assert masked.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "pwd=/home/ana/project",
        "next_token: page2of10abc",
        "password: string;",
        "the password is cryptographically hashed",
        "password = generatedvalue",
        "def login(user: str, password: str) -> None:",
        "key_file_pass = ctx_config->client_key_file_pass;",
        "You should pass :c:data:`FLAG` here",
        'label = "Password"',
        "Password: 8-64 characters",
        "password is case-sensitive",
        "postgres://user:password@host/db",
        "password: db_password2",
        "if password1 and password1 == password2:",
        "'PW' => 'পালাউ',",
        "$pass = UnusedTagsPass::class;",
        "foreach (UnusedTagsPass::KNOWN_TAGS2 as $tag)",
        'password: "newPassword"',
        'password: "oauth2_access_token"',
        'PASSWORD_FIELD = "awsS3SecretKey"',
        "redis://default:redisPass@cache:6379",
        "secretName: web-tls-2",
        "bypass = 4096x",
        'INVALID_PASSWORD="Must be at least 8 characters"',
        'PASSWORD="openssl rand -hex 16"',
        '<string name="password">contraseña</string>',
        "$password = Read-Host -AsSecureString",
        """"password='" + pass1 + "'\"""",
        """query("password='a"+x1+"b'")""",
        r'"password=\"" + p1 + "\""',
        "#define TOKEN_KEY 0x1F4A5B6C7D8E",
        '#define PASSWORD_PROMPT "Enter password 1"',
        '#define KEY_ENTER "enter"',
        "ENV PATH /usr/bin",
        'reset pwd "abc123"',
        'Password saslConfig1 = new Password("x");',
        "Password config1 = read();",
        "syn keyword option passwd prefer-ipv4 prefer-ipv6",
        r"$rfc2045Token = '/^[\x21\x23-\x27]+$/D';",
        "('authtoken', '0002_auto_20160226_1747'),",
        '_dir="$HISTORY_BASE${PWD:A}/history"',
        "${PASSWORD:-}",
        "${DB_PASSWORD:-${FALLBACK9}}",
        'docker run -v "$PWD:/app9x" image',
        "the fields on login and password reset forms are visible",
        "forgot_password: ¿Olvidó la contraseña?",
        "forgot_password: Esqueceu-se da sua senha?",
        "sk-ssh-ed25519-cert-v01@openssh.com",
        "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
        "--smtp-pass= --smtp-server-option=",
        "pwd>hash",
        "Deprecate('NetUserPass', 'v185', 'use NetUserPass9')",
        'print("-----BEGIN PRIVATE KEY-----")\nwrite(key)\nprint("-----END PRIVATE KEY-----")',
        "update_password:\n  choices: [always, on_create]\n  default: always",
        'variable "db_password" {\n}\n\nvariable "zone" {\n  default = "eu-west-1x"\n}',
        "  db_password:\n    type: string\n  zone:\n    default: eu-west-1x",
    ],
)
def test_an_ordinary_line_is_unchanged(text: str) -> None:
    assert mask_secrets(text).text == text


def test_a_private_key_in_the_middle_of_a_file_keeps_the_line_numbers() -> None:
    text = f"first line\n{PEM}\nlast line"
    assert mask_secrets(text).text == "first line\n[masked: private key]\n\n\n\nlast line"


# Lines of 64 encoded bytes.
ENCODED = ["q9Zk3LmT7xWv2RbN" * 4, "Aa0/Bb1+Cc2/Dd3+" * 4, "MIIEowIBAAKCAQEA" * 4]


@pytest.mark.parametrize("margin", ["", "    ", '  "', "# "])
@pytest.mark.parametrize(
    "patch",
    [
        "@@ -9,3 +9,3 @@ tls:\n {0}\n-{1}\n+{2}\n {0}",
        "@@ -9,3 +9,3 @@ {0}\n {0}\n-{1}\n+{2}\n {0}",
        "@@ {0}\n {0}\n-{1}",
        " {0}\n-Aa0+\n+Bb1+\n -----END RSA PRIVATE KEY-----",
        "-Aa0+Bb1/Cc2+\n+Bb1+Cc2/Dd3+\n -----END EC PRIVATE KEY-----",
        " {0}\n {1}\n-Bb1+\n+Cc2/=\n",
    ],
)
def test_lines_of_a_key_whose_beginning_the_patch_does_not_show_are_masked(
    patch: str, margin: str
) -> None:
    text = patch.format(*(margin + line for line in ENCODED))
    masked = mask_patch(text)
    assert not [line for line in (*ENCODED, "Aa0+", "Bb1+", "Cc2/=") if line in masked.text]
    assert masked.kinds == ("possible private key",)
    signs = [line[:2] for line in text.split("\n")]
    assert all(map(str.startswith, masked.text.split("\n"), (sign[:1] for sign in signs)))
    assert mask_patch(text, ("*",)).text == text


@pytest.mark.parametrize(
    "patch",
    [
        " -----BEGIN CERTIFICATE-----\n-{0}\n+{1}\n {2}",
        " {0}\n-{1}\n+{2}\n -----END PUBLIC KEY-----",
        f"-{'0a1b2c3d' * 8}\n+{'4e5f6a7b' * 8}",
        "-{0}\n+return 1\n",
        f"-{'a' * 64}\n+{'b' * 64}",
        " else\n-pass\n+fail\n end",
    ],
)
def test_certificates_digests_and_single_lines_of_a_patch_are_unchanged(patch: str) -> None:
    text = patch.format(*ENCODED)
    assert mask_patch(text).text == text


def test_a_command_before_the_password_is_not_masked() -> None:
    line = '$password = ConvertTo-SecureString "Ps9pass!" -AsPlainText'
    assert mask_secrets(line).text == line.replace("Ps9pass!", "[masked: password]")


@pytest.mark.slow
@pytest.mark.parametrize(
    "repeated",
    [r'password="\a', 'password="" ', "password='a\"a", "set password ", 'key="password">a', "sk-"],
)
def test_a_secret_is_found_in_linear_time_after_many_strings_that_do_not_end(repeated: str) -> None:
    text = repeated * (100_000 // len(repeated)) + "\npassword: Tr0ub4dor3\n"
    assert "Tr0ub4dor3" not in mask_secrets(text).text


_BEGIN, _END = "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----\n"


_REPEATED = {
    "a long run without an upper-case letter": (f"{_BEGIN}{'a' * 19_900}\n{_END}", 20),
    "a long run without the end of the key": (f"{_BEGIN}{'a' * 19_900}\n", 20),
    "a marker": (_BEGIN, 50_000),
    "many markers before one end": (f"{_BEGIN * 650}{_END}", 30),
    "many markers before code": (f"{_BEGIN * 350}{'()' * 4_000}{_END}", 30),
    "the beginning of a JSON web token": ("-eyJ", 100_000),
    "the beginning of a token within a word": ("xglpat-", 50_000),
    "a name without a value": ("key=", 15_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _REPEATED)
def test_repeated_beginnings_of_secrets_are_read_in_linear_time(name: str) -> None:
    code = (
        "import sys\n"
        "from rootle.text.secret_masking import mask_secrets\n"
        "text = sys.stdin.read() + '\\npassword: Tr0ub4dor3\\n'\n"
        "assert 'Tr0ub4dor3' not in mask_secrets(text).text\n"
    )
    repeated, count = _REPEATED[name]
    # In quadratic time, most of these texts would take several minutes. The text is masked in a
    # child process, because matching holds the interpreter lock, so no thread could stop it.
    command = [sys.executable, "-c", code]
    subprocess.run(command, input=repeated * count, text=True, check=True, timeout=60)


def test_a_key_after_the_marker_of_another_key_is_masked() -> None:
    lines = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 4
    text = f"{_BEGIN} = (header)\n{_BEGIN}{lines}{_END}after\n"
    assert (
        mask_secrets(text).text
        == f"{_BEGIN} = (header)\n[masked: private key]" + "\n" * 6 + "after\n"
    )


def test_positions_are_correct_after_characters_of_several_bytes() -> None:
    text = "größer als 🎉: password=Tr0ub4dor3\n— und danach"
    (secret,) = find_secrets(text)
    assert text[secret.start : secret.end] == "Tr0ub4dor3"
    assert mask_secrets(text).text == "größer als 🎉: password=[masked: password]\n— und danach"


def test_a_long_secret_is_masked_completely() -> None:
    assert (
        mask_secrets(f'API_KEY="{"a1B2" * 500}" # end').text == 'API_KEY="[masked: secret]" # end'
    )


def test_exceptions_are_patterns_of_values() -> None:
    text = "password=Tr0ub4dor3 token=a1b2c3d4e5f6"
    assert mask_secrets(text, ("Tr0*",)).text == "password=Tr0ub4dor3 token=[masked: secret]"
    assert mask_secrets(text, ("*",)).count == 0


@pytest.mark.parametrize(
    "text", [*(case[0] for case in SECRETS), "Private-Lines: 1\nAAAB3Nza", "login x -p hunter2"]
)
def test_a_short_text_with_a_secret_is_searched(text: str) -> None:
    assert may_contain_secret(text)


@pytest.mark.parametrize("pattern", [prefix + rest for _, prefix, rest in FORMATS])
@settings(max_examples=5)
@given(st.data())
def test_a_short_text_with_a_token_is_searched(pattern: str, data: st.DataObject) -> None:
    ascii_only = st.characters(codec="ascii")
    text = data.draw(st.from_regex(re.compile(pattern), fullmatch=True, alphabet=ascii_only))
    assert may_contain_secret(text) or not find_secrets(text)


@pytest.mark.slow
@given(
    st.from_regex(re.compile(ASSIGNMENTS, re.IGNORECASE), fullmatch=True),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=12),
)
def test_a_short_text_with_an_assigned_value_is_searched(name: str, value: str) -> None:
    assert may_contain_secret(name + value)


@pytest.mark.parametrize(
    "question", ["where is the retry backoff computed", "parse_date", "how are headings cut?"]
)
def test_a_question_without_a_hint_is_not_searched(question: str) -> None:
    assert not may_contain_secret(question)


def test_masking_a_question_without_a_hint_does_not_load_the_patterns() -> None:
    code = (
        "import sys\n"
        "from rootle.text.secret_masking import mask_secrets\n"
        "assert mask_secrets('where is the retry backoff computed').count == 0\n"
        "assert 're2' not in sys.modules\n"
        "assert mask_secrets('the password is hunter2').count == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
