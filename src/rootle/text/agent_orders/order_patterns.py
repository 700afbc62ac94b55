"""Signs of orders: concealment, transfers of secrets, forced answers, false permissions."""

from __future__ import annotations

from typing import Final

from rootle.text.agent_orders.signs import SECRETS, SEND, OrderPattern, sign

ORDER_SIGNS: Final[tuple[OrderPattern, ...]] = (
    # Concealment from the user
    sign(
        "conceal",
        0.9,
        r"\b(?:do not|don't|never|without|avoid|must not|should not) (?:\w{1,12} ){0,2}"
        r"(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|"
        r"ask(?:ing)?|show(?:ing)?|disclos(?:e|ing)|warn(?:ing)?|report(?:ing)?|reveal(?:ing)?|"
        r"let(?:ting)?|explain(?:ing)?|confirm(?:ing)?(?: with)?|consult(?:ing)?) "
        r"(?:\w{1,12} ){0,4}(?:users?|human|humans|anyone|operator|owner|developer|person)\b"
        r"(?! (?:id|name|interface|agent|input|model|guide|code|space)s?\b)",
    ),
    sign(
        "conceal",
        0.8,
        r"\b(?:do not|don't|never|without) (?:\w{1,12} ){0,2}(?:mention(?:ing)?|reveal(?:ing)?|"
        r"disclos(?:e|ing)|acknowledg(?:e|ing)|refer(?:ring)? to|repeat(?:ing)?|quot(?:e|ing)|"
        r"discuss(?:ing)?) (?:that )?(?:you (?:read|received|were|have|saw|did)|"
        r"(?:this|these|the above|my|any of (?:this|these)) "
        r"(?:instructions?|message|note|notice|step|prompt|comment|text|request|action|section|"
        r"directive|paragraph|rule)s?)\b",
    ),
    sign(
        "conceal",
        0.5,
        r"\b(?:secretly|silently|covertly|quietly|discreetly|invisibly|without (?:asking|"
        r"confirmation|permission|(?:further |any )?(?:approval|consent))|"
        r"(?:user|human)(?:'s)? (?:knowledge|awareness|consent))\b",
    ),
    # Transfers of secrets
    sign(
        "exfiltrate",
        0.5,
        rf"\b{SEND} (?:[\w'./,~*-]{{1,20}} ){{0,8}}{SECRETS}[^.!?\n]{{0,60}}?"
        r"(?:\bto\b|\bat\b|\bvia\b|\bas\b|\bin\b|https?://)",
    ),
    sign(
        "exfiltrate",
        0.5,
        rf"\b{SEND} (?:[\w'./,-]{{1,20}} ){{0,8}}to (?:the )?"
        r"(?:https?://|[\w.+-]{1,40}@[\w-]{1,40}\.|attacker|this (?:address|url|endpoint|email))",
    ),
    sign(
        "exfiltrate",
        0.5,
        rf"\b(?:read|open|cat|collect|gather|find|list|print|output|reveal|extract|show|get|access|"
        rf"retrieve|fetch|include|share|provide) (?:[\w'./,~-]{{1,20}} ){{0,5}}{SECRETS}",
    ),
    sign(
        "exfiltrate",
        1.2,
        r"(?:!\[[^\]]{0,40}\]\(|src=[\"']?)https?://[^)\s\"']{1,120}[?&](?:data|token|q|d|id|"
        r"info|leak|"
        r"secret|key|c|log|msg|payload|content|exfil|session)=(?:[{\[<$]|[a-z_]{0,12}(?:data|"
        r"secret|"
        r"token|key|here|history|conversation|value|summary|info))",
    ),
    sign(
        "exfiltrate",
        1.6,
        r"!\[[^\]]{0,40}\]\(https?://[^)\s\"']{1,120}[?&]\w{1,12}=[{\[<$]{0,2}[a-z_]{0,12}"
        r"(?:conversation|history|summary|secret)",
    ),
    sign("exfiltrate", 0.6, r"!\[[^\]]{0,40}\]\(https?://[^)\s]{1,120}[?&]\w{1,12}=[{\[<$]"),
    # Orders
    sign(
        "order",
        0.4,
        r"\byou (?:must|have to|need to|are required to|are instructed to|are ordered to|will now|"
        r"should now|are to|are authorized to|are obligated to|are expected to)\b",
    ),
    sign(
        "order",
        0.5,
        r"\bbefore (?:you )?(?:can )?(?:answer|continu|respond|do|complet|proceed|repl|solv|"
        r"summari|"
        r"start|begin|generat|perform|provid|execut|read|finish|process|review)\w{0,5}\b"
        r"[^.!?]{0,80}[,:] ?(?:you (?:must|should|need)|please|first|run|send|call|do|read|make|"
        r"execute|fetch|always)",
    ),
    sign(
        "order",
        0.5,
        r"\b(?:respond|reply|answer|say|output|print|state|write|conclude|end|start|begin) "
        r"(?:only |simply |just |instead |always |back |exactly |your \w{1,12} ){0,3}"
        r"(?:with|by|that|only|exactly) (?:the |a |an |this |following |exact |single |word |words "
        r"|phrase |text |string |message ){0,5}[\"'“‘`«\w]",
    ),
    sign(
        "order",
        0.4,
        r"\b(?:please )?(?:strictly |immediately |carefully |exactly |now |also |always |first )"
        r"(?:follow|execute|obey|adhere|comply|run|perform|carry out|do|send|call|use|respond|"
        r"reply|"
        r"include|recommend)\b",
    ),
    sign(
        "order",
        0.5,
        r"\b(?:follow|obey|execute|adhere to|comply with|carry out|act on|treat) (?:\w{1,12} ){0,3}"
        r"(?:these|this|the following|my|below|new) (?:\w{1,12} ){0,2}(?:instructions?|commands?|"
        r"orders|directives?|steps?|message|text)\b",
    ),
    sign(
        "order",
        0.3,
        r"\b(?:run|execute|call|invoke|fetch|download|delete|transfer|send|visit|"
        r"click|submit|modify|approve|recommend|rate|append|include|push|merge|skip|rewrite|"
        r"forward|"
        r"post|suggest|praise|rank|mention|ignore|"
        r"say|output|respond|reply)\b",
    ),
    sign(
        "answer",
        0.5,
        r"\b(?:in|of|to|at the (?:end|start|beginning|top) of|with) (?:your|every|all|each|any) "
        r"(?:\w{1,12} ){0,2}(?:answers?|responses?|repl(?:y|ies)|summar(?:y|ies)|outputs?|reviews?|"
        r"completions?|commits?|suggestions?|reports?|messages?)\b",
    ),
    sign(
        "answer",
        0.5,
        r"\bwhen (?:\w{1,12} ){0,2}(?:you )?(?:summari[sz]\w{1,3}|answer\w{0,3}|respond\w{0,3}|"
        r"review\w{0,3}|generat\w{1,3}|asked|describ\w{1,3}|recommend\w{0,3}|process\w{0,3})\b",
    ),
    sign(
        "answer",
        0.8,
        r"\b(?:includ(?:e|ing)|add(?:ing)?|put(?:ting)?|append(?:ing)?|insert(?:ing)?|"
        r"embed(?:ding)?|"
        r"mention(?:ing)?|writ(?:e|ing)|us(?:e|ing)|output(?:ting)?|plac(?:e|ing)|start(?:ing)?|"
        r"begin|end|prefix(?:ing)?) (?:[^\s]{1,40} ){0,8}?(?:in|to|of|at|with|on) (?:your|"
        r"every|all|"
        r"each|any|the (?:final|next)) (?:\w{1,12} ){0,3}(?:answers?|responses?|repl(?:y|ies)|"
        r"summar(?:y|ies)|outputs?|completions?)\b",
    ),
    sign(
        "answer",
        0.7,
        r"\b(?:confirm|verify|prove|acknowledge|demonstrate|comply|proceed|respond|begin|start)"
        r"(?: \w{1,14}){0,6} (?:by|with|requires?|through) (?:say|output|print|respond|reply|"
        r"repeat|"
        r"writ|includ|return|stat|display|answer)\w{1,4}\b",
    ),
    sign(
        "answer",
        0.6,
        r"\b(?:say|output|print|respond with|reply with|include|display|repeat)"
        r"(?: [^\s.]{1,40}){1,8} (?:to|as|for) (?:confirm|prove|verif|acknowledg|show that you|"
        r"demonstrat|proof|confirmation|verification|compliance|audit)\w{0,12}",
    ),
    sign(
        "answer",
        0.5,
        r"\b(?:every|each|all|any|the next|your next|your) (?:\w{1,12} ){0,2}(?:responses?|"
        r"answers?|"
        r"repl(?:y|ies)|outputs?) (?:\w{1,12} ){0,3}(?:must|should|has to|need to|will) "
        r"(?:also |now |always )?(?:include|contain|start|begin|end|be)\b",
    ),
    sign(
        "tool",
        0.7,
        r"\b(?:before|after|when|whenever|while) (?:\w{1,12} ){0,2}(?:call|us|invok|execut|"
        r"runn)ing "
        r"(?:this|any|the|other|another) (?:\w{1,12} ){0,2}(?:tools?|functions?)\b[^.]{0,80}?"
        r"\b(?:output|always|must|first|read|send|call|include|pass|print|say)\b",
    ),
    sign(
        "tool",
        0.6,
        r"\b(?:call|invoke|use|trigger|run) (?:the |your )?[`'\"]?[\w.-]{2,40}[`'\"]? (?:tool|"
        r"function)"
        r"(?: \w{1,12}){0,3} (?:with|and|to|passing|using)\b",
    ),
    sign(
        "tool",
        0.6,
        r"\b(?:do not|don't|never) (?:skip|omit|bypass|ignore|refuse|decline|question|delay|stop|"
        r"hesitate|output any|say anything|include any)\b(?: \w{1,12}){0,3} (?:this|these|it|any|"
        r"step|instruction|request|else|warning|disclaimer)s?\b",
    ),
    sign(
        "role",
        0.6,
        r"\b(?:safety|content|security|ethical|all) (?:filters?|restrictions?|guidelines|"
        r"protocols?|"
        r"limitations|measures|checks|policies|guardrails) (?:\w{1,12} ){0,3}(?:disabled|lifted|"
        r"removed|suspended|off|bypassed|relaxed|overridden|unlocked|do(?:es)? not apply|no "
        r"longer)\b",
    ),
    # Orders to praise or to blame
    sign(
        "praise",
        0.7,
        r"\b(?:give|rate|write|provide|recommend|score|rank|describe|present|mark|accept|evaluate|"
        r"assess|promote|praise) (?:[\w'-]{1,14} ){0,6}(?:positive|highest|excellent|favou?rable|"
        r"perfect|5[- ]star|five[- ]star|top|outstanding|glowing|best|strongly|exceptional|"
        r"qualified)"
        r"(?: [\w'-]{1,14}){0,3} (?:review|rating|score|evaluation|assessment|candidate|paper|"
        r"option|"
        r"choice|product|recommendation|match|terms|only)s?\b",
    ),
    sign(
        "praise",
        0.6,
        r"\b(?:do not|don't|never|without) (?:highlight|mention|includ|list|report|point out|"
        r"not)\w{0,4} "
        r"(?:\w{1,12} ){0,2}(?:negatives?|weakness(?:es)?|criticisms?|limitations?|flaws?|problems|"
        r"drawbacks|competitors?|alternatives|risks|concerns|vulnerabilit(?:y|ies))\b",
    ),
    # False permissions
    sign(
        "permission",
        0.6,
        r"\b(?:the |your |my )?(?:user|owner|operator|administrator|admin|developer|maintainers?|"
        r"security team|company|boss|manager|anthropic|openai|google)s? "
        r"(?:has|have|had|already|explicitly|wants?|is|are|requires?|instructs?|"
        r"authori[sz]es?"
        r"|asks?|requests?|approved?) (?:\w{1,12} ){0,3}(?:you\b|authori[sz]ed|approved|consented|"
        r"granted|permitted|configured|pre-?approved|given|agreed|confirmed|instructed)",
    ),
    sign(
        "permission",
        0.5,
        r"\b(?:pre-?authori[sz]ed|pre-?approved|no (?:further )?(?:confirmation|approval|"
        r"permission)"
        r" (?:is )?(?:needed|required|necessary)|takes? (?:precedence|priority) over|"
        r"highest priority|this (?:is|was) (?:\w{1,12} ){0,2}(?:authorized|approved|mandatory))\b",
    ),
    sign(
        "permission",
        0.5,
        r"\b(?:important|urgent|critical|secret|special|confidential) (?:message|note|notice|"
        r"instructions?|information|update|reminder|task) (?:from|for|to|by) (?:me|you|your|the)\b",
    ),
)
