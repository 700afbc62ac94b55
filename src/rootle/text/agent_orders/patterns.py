"""Patterns of texts that give orders to an agent, with their weights.

All patterns are matched against lower-case text with single spaces. Every repetition is bounded, so
the time is proportional to the length of the text. The weights were chosen on the development half
of the benchmark (benchmarks/quality/agent_orders.py): a pattern that occurs in no
ordinary text weighs 1, and the others count only together.
"""

from __future__ import annotations

from typing import Final

from rootle.text.agent_orders.address_patterns import ADDRESS_SIGNS
from rootle.text.agent_orders.answer_patterns import ANSWER_SIGNS
from rootle.text.agent_orders.order_patterns import ORDER_SIGNS
from rootle.text.agent_orders.translated_patterns import TRANSLATED_SIGNS

SIGNS: Final = (*ADDRESS_SIGNS, *ORDER_SIGNS, *ANSWER_SIGNS, *TRANSLATED_SIGNS)
