"""Masking of documents from any source."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rootle.sources.secret_masking_reader import MaskingReader
from rootle.sources.source import Document

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
