"""The places of an answer that consists of one file."""

from __future__ import annotations

from collections.abc import Sequence

from rootle.tools.excerpts.answer_places import AnswerFile, choose_places
from rootle.tools.excerpts.file_places import Place
from rootle.tools.excerpts.place_ranking import rank_places
from rootle.tools.excerpts.shown_lines import FileExcerpts, LineNumbers
from rootle.types import FileOutline, Span


class OneFile(FileExcerpts):
    """The excerpts of a file that is the only result of a question."""

    def __init__(self, outline: FileOutline, question: str) -> None:
        super().__init__(outline, question)
        self._question = question

    def places(self, spans: Sequence[Span]) -> list[Place]:
        """Return the places of an answer with these spans, best first."""
        ranked = rank_places(self._question, [self.candidates(spans)], [1.0])
        return [one.candidate.place for one in ranked]

    def choose_places(self, spans: Sequence[Span], room: int) -> list[tuple[Place, LineNumbers]]:
        """Return the places of an answer of `room` characters; places without lines are last."""
        (chosen,) = choose_places(self._question, [AnswerFile(self, spans, 1.0)], room)
        return [*chosen.shown, *((place, ()) for place in chosen.named)]
