"""Signs of orders about later answers, hidden text and calls of tools."""

from __future__ import annotations

from typing import Final

from rootle.text.agent_orders.signs import IGNORE, MODEL, SECRETS, OrderPattern, sign

ANSWER_SIGNS: Final[tuple[OrderPattern, ...]] = (
    # Answers to later questions
    sign(
        "answer",
        0.7,
        r"\b(?:if|when|whenever|once|should) (?:the |a |any |anyone |someone )?(?:users? |"
        r"you(?:'re| are)? |"
        r"they )?(?:is |are |be )?(?:asked|asks?|questioned|prompted|queried|requests?|inquires?)\b"
        r"[^.;]{0,80}?\b(?:repl(?:y|ies)|respond|answer|say|report|state|tell|claim|insist|"
        r"output)\b",
    ),
    sign(
        "only",
        0.5,
        r"\b(?:and |with )?(?:absolutely |literally )?nothing (?:else|more)\b|\bonly (?:the|"
        r"this|with the) "
        r"(?:following|exact|word|phrase|text|string)\b|\bword[ -]for[ -]word\b|\bverbatim\b|"
        r"\b(?:you )?(?:may|must|should|do|can) not deviate\b|\brepeat (?:the following|after me|"
        r"this (?:sentence|text|word|phrase))\b",
    ),
    sign(
        "ignore",
        0.6,
        rf"\b{IGNORE} (?:all |any |every |the |this |other |of |negative |previous ){{1,4}}"
        r"(?:info|information|data|content|text|indicators?|evidence|input|above|preceding|"
        r"foregoing|rest|document|article|page|warnings? about)\b",
    ),
    sign(
        "hidden",
        0.7,
        r"\b(?:invisible|hidden|not visible|unseen|concealed) (?:to|from|for) (?:the "
        r")?(?:humans?|users?|"
        r"people|readers?|viewers?|reviewers?)\b|\bwhite[ -]text\b|\bvisible (?:only )?to (?:the )?"
        rf"{MODEL}",
    ),
    sign(
        "address",
        0.7,
        r"\b(?:note|message|notice|attention|instructions?|reminder|hint)[ :]{1,2}(?:to|for)? ?"
        r"(?:the |all |any )?(?:automated|automatic|machine|analysis|screening|parsing|indexing|"
        r"crawling|scanning)(?: \w{1,12}){0,2} (?:software|systems?|tools?|readers?|scanners?|"
        r"crawlers?|"
        r"parsers?|processors?|analy[sz]ers?|models?|bots?)\b",
    ),
    sign(
        "markup",
        0.9,
        r"(?:\[/?(?:system|admin|user|assistant|inst)\] ?){2,}|\[(?:admin|system|root|developer|"
        r"operator|override|priority)[\w ]{0,20}::?|(?:^|\W)(?:user|human): (?:next|now|please|"
        r"then|also|"
        r"instead),? \w",
    ),
    sign(
        "tool",
        0.5,
        r"\b(?:call|invoke|trigger|use|run|execute) [a-z]{2,20}_[a-z_]{2,30}\b[ (]{1,2}"
        r"(?:to|with|on|url|path|for|using|input|at|passing|and|\w{1,12}=)",
    ),
    sign(
        "exfiltrate",
        0.7,
        r"(?:[\w.+-]{1,40}@[\w-]{1,40}\.\w|https?://[^\s\"']{1,80})[^.!?\n]{0,60}?\b(?:with|"
        r"including|"
        rf"containing|and|plus|input|body|data)\b[^.!?\n]{{0,30}}?\b{SECRETS}",
    ),
    sign("exfiltrate", 0.6, r"attacker(?:[.-]|'s )\w|evil[.-](?:com|example|org|net|site)|\bexfil"),
    # False reasons
    sign(
        "permission",
        0.6,
        r"\b(?:for|as part of) (?:the |our |a |this )?(?:qa|audit(?:ing)?|compliance|verification|"
        r"quality(?: assurance)?|security|logging|diagnostic|accessibility|authentication)"
        r"(?: (?:test(?:ing)?|purposes|compliance|tracking|audit|check|reasons|review|"
        r"assurance)){1,2},? "
        r"(?:always|please|you|output|include|pass|print|send|every|all|the (?:assistant|model|"
        r"agent))\b",
    ),
    sign(
        "permission",
        0.5,
        r"\b(?:this|it) is (?:a |an )?(?:\w{1,12} )?(?:required|mandatory|non-negotiable|"
        r"requirement|"
        r"compulsory|authori[sz]ed)(?: (?:by|for|under) (?:the |our )?(?:\w{1,14} "
        r"){0,2}(?:polic(?:y|ies)|"
        r"administrators?|compliance|audit\w{0,4}|guidelines|security|verification|logging))",
    ),
    sign(
        "role",
        0.6,
        r"\b(?:i am|i'm|this is|speaking as|message from) (?:a |an |the |your )?(?:\w{1,12} ){0,2}"
        r"(?:system admin(?:istrator)?|developers?|creators?|owner|ceo|supervisor|security team|"
        r"authori[sz]ed (?:tester|user|personnel)|anthropic|openai|administrator)\b",
    ),
)
