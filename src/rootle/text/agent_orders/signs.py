"""The patterns that indicate orders to an agent, called signs, and words that they share."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from rootle.text.patterns.lazy_pattern import LazyPattern

SURE: Final = 1.6  # if the weights of signs add up to this, the linear model is not used


class OrderPattern(NamedTuple):
    """A sign: a pattern that indicates that a text gives orders to an agent."""

    group: str  # if several signs belong to one group, only the strongest counts
    weight: float
    regex: LazyPattern


MODEL: Final = (
    r"(?:ai|a\.i\.|artificial intelligence|llms?|(?:large )?language models?|chat ?bots?|chatgpt|"
    r"gpt(?:-?\d\w{0,3})?|claude|gemini|copilot|codex|(?:ai|coding|virtual|digital|automated|"
    r"autonomous|llm|language) (?:assistants?|agents?|models?|systems?|bots?|tools?|reviewers?))"
)
AGENT: Final = rf"(?:{MODEL}|assistants?|agents?)"
EARLIER: Final = (
    r"(?:previous|prior|above|earlier|preceding|existing|original|initial|former|current|other|"
    r"foregoing|past|system|safety|security|default|given|old)"
)
RULES: Final = (
    r"(?:instructions?|iunstructions?|prompts?|rules?|directives?|guidelines?|orders?|commands?|"
    r"directions?|guardrails?|restrictions?|constraints?|policies|policy|programming|training|"
    r"safeguards?|filters?|tasks?|messages?|context|conversation|request|guidance)"
)
IGNORE: Final = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|es|ing)|bypass(?:ing)?|"
    r"supersed(?:e|es|ing)|discard|drop|neglect|abandon|cancel|set aside|stop following|"
    r"do not follow|don't follow|pay no attention to|skip)"
)
SECRETS: Final = (
    r"(?:api[ _-]?keys?|access keys?|(?:access|auth|api|session|bearer|github|npm)[ _-]tokens?|"
    r"passwords?|credentials?|secrets?|private keys?|ssh keys?|id_rsa|\.ssh|\.env\b|\.aws|"
    r"env(?:ironment)? var(?:iable)?s?|cookies?|chat history|conversation(?: history)?|"
    r"(?:user|personal|private|sensitive|customer)(?:'s)? (?:data|information|details|files?|"
    r"emails?|"
    r"messages?|name)|system prompt|email addresses|source code|bank|credit card)"
)
SEND: Final = (
    r"(?:send|post|forward|upload|exfiltrat\w{1,3}|e-?mail|transmit|leak|submit|append|deliver|"
    r"encode|embed|include|attach|share|curl|report|copy|dump)"
)
SAY: Final = (
    r"(?:reveal|print|output|repeat|show|tell|display|disclose|leak|share|expose|recite|dump|"
    r"write out|give|return|list|state|provide|summari[sz]e|translate|copy|extract)"
)


def sign(group: str, weight: float, pattern: str) -> OrderPattern:
    return OrderPattern(group, weight, LazyPattern(pattern, flags=re.NOFLAG))
