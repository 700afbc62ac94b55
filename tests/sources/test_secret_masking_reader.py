"""Masking of documents from any source."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rootle.sources.documents.places import join_places
from rootle.sources.documents.section_labels import make_label
from rootle.sources.secret_masking_reader import MaskingReader
from rootle.sources.source import Document
from rootle.types import DocumentSection

DOCUMENT = Document("a.md", "first\npassword=Tr0ub4dor3\nlast\n", b"x" * 16, "markdown", "utf-8")


@dataclass(frozen=True)
class OneDocument:
    """A reader that returns one document, or the reason why it is skipped."""

    document: Document | str

    def read(self, uri: str) -> Document | str:
        return self.document


def test_the_text_and_the_title_of_a_document_are_masked() -> None:
    titled = replace(DOCUMENT, title="Use token=8f14e45fceea167a")
    found = MaskingReader(OneDocument(titled)).read("a.md")
    assert isinstance(found, Document)
    assert found.text == "first\npassword=[masked: password]\nlast\n"
    assert found.title == "Use token=[masked: secret]"
    assert found.masked == 1


def test_the_labels_and_the_titles_of_sections_are_masked() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    long = "The heading of a section with much more text than fits into a label"
    places = [
        ("page-1", "password: hunter2xyz99", "a"),
        ("db-password-hunter2xyz99", "Login > db password: hunter2xyz99", "a"),
        ("db-password-hunter2xyz99-2", f"{'x' * 140} > db", "db password: hunter2xyz99\nb"),
        (make_label(f"{long} {token}")[:60], "", f"{long} {token}\na"),
        (make_label(token)[:60], token, "Box"),  # the name of a diagram is not part of its text
        (f"GET /users/{token}", f"GET /users/{token}", "a"),
        ("introduction", "Introduction", "Introduction\na"),
        ("Costs!A1:B2", "Costs", "a"),
    ]
    text, sections = join_places(places)
    document = replace(DOCUMENT, text=text, sections=sections, author=f"Ann {token}")
    found = MaskingReader(OneDocument(document)).read("a.md")
    assert isinstance(found, Document)
    labels = [section.label for section in found.sections]
    assert labels == [
        "page-1",
        "db-password-masked-password",
        "db-password-masked-password-2",
        make_label(long)[:60],
        "masked-github-token",
        "GET /users/[masked: GitHub token]",
        "introduction",
        "Costs!A1:B2",
    ]
    shown = repr(found).casefold()
    assert "hunter2" not in shown
    assert token[:12].casefold() not in shown
    assert found.author == "Ann [masked: GitHub token]"


def test_a_secret_in_a_title_alone_is_masked() -> None:
    sections = (DocumentSection("password-hunter2xyz99", 1, 1, "password: hunter2xyz99"),)
    document = replace(DOCUMENT, text="box\n", sections=sections)
    found = MaskingReader(OneDocument(document)).read("a.md")
    assert isinstance(found, Document)
    assert "hunter2" not in repr(found)


def test_the_digest_of_a_masked_document_does_not_depend_on_the_secret() -> None:
    other = replace(DOCUMENT, text=DOCUMENT.text.replace("dor3", "dor4"), digest=b"y" * 16)
    digests = []
    for document in (DOCUMENT, other):
        found = MaskingReader(OneDocument(document)).read("a.md")
        assert isinstance(found, Document)
        digests.append(found.digest)
    assert digests[0] == digests[1]
    assert digests[0] not in (DOCUMENT.digest, other.digest)


def test_other_documents_and_skip_reasons_are_unchanged() -> None:
    ordinary = replace(DOCUMENT, text="nothing to see\n")
    assert MaskingReader(OneDocument(ordinary)).read("a.md") is ordinary
    assert MaskingReader(OneDocument("binary")).read("a.md") == "binary"
    assert MaskingReader(OneDocument(DOCUMENT), ("Tr0*",)).read("a.md") == DOCUMENT
