"""Patterns of texts that give orders to an agent, with their weights.

All patterns are matched against lower-case text with single spaces. Every repetition is bounded, so
the time is proportional to the length of the text. The weights were chosen on the development half
of the benchmark (benchmarks/quality/agent_orders_benchmark.py): a pattern that occurs in no
ordinary text weighs 1, and the others count only together.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class OrderPattern(NamedTuple):
    """A sign that a text gives orders to an agent."""

    group: str  # of several signs of one group, only the strongest counts
    weight: float
    regex: re.Pattern[str]


_MODEL: Final = (
    r"(?:ai|a\.i\.|artificial intelligence|llms?|(?:large )?language models?|chat ?bots?|chatgpt|"
    r"gpt(?:-?\d\w{0,3})?|claude|gemini|copilot|codex|(?:ai|coding|virtual|digital|automated|"
    r"autonomous|llm|language) (?:assistants?|agents?|models?|systems?|bots?|tools?|reviewers?))"
)
_AGENT: Final = rf"(?:{_MODEL}|assistants?|agents?)"
_EARLIER: Final = (
    r"(?:previous|prior|above|earlier|preceding|existing|original|initial|former|current|other|"
    r"foregoing|past|system|safety|security|default|given|old)"
)
_RULES: Final = (
    r"(?:instructions?|iunstructions?|prompts?|rules?|directives?|guidelines?|orders?|commands?|"
    r"directions?|guardrails?|restrictions?|constraints?|policies|policy|programming|training|"
    r"safeguards?|filters?|tasks?|messages?|context|conversation|request|guidance)"
)
_IGNORE: Final = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|es|ing)|bypass(?:ing)?|"
    r"supersed(?:e|es|ing)|discard|drop|neglect|abandon|cancel|set aside|stop following|"
    r"do not follow|don't follow|pay no attention to|skip)"
)
_SECRETS: Final = (
    r"(?:api[ _-]?keys?|access keys?|(?:access|auth|api|session|bearer|github|npm)[ _-]tokens?|"
    r"passwords?|credentials?|secrets?|private keys?|ssh keys?|id_rsa|\.ssh|\.env\b|\.aws|"
    r"env(?:ironment)? var(?:iable)?s?|cookies?|chat history|conversation(?: history)?|"
    r"(?:user|personal|private|sensitive|customer)(?:'s)? (?:data|information|details|files?|emails?|"
    r"messages?|name)|system prompt|email addresses|source code|bank|credit card)"
)
_SEND: Final = (
    r"(?:send|post|forward|upload|exfiltrat\w{1,3}|e-?mail|transmit|leak|submit|append|deliver|"
    r"encode|embed|include|attach|share|curl|report|copy|dump)"
)
_SAY: Final = (
    r"(?:reveal|print|output|repeat|show|tell|display|disclose|leak|share|expose|recite|dump|"
    r"write out|give|return|list|state|provide|summari[sz]e|translate|copy|extract)"
)


def _sign(group: str, weight: float, pattern: str) -> OrderPattern:
    return OrderPattern(group, weight, re.compile(pattern))


_ENGLISH: Final = (
    # "Ignore all previous instructions"
    _sign(
        "ignore",
        1.0,
        rf"\b{_IGNORE} (?:\w{{1,12}}[ ,]+){{0,5}}{_EARLIER}(?: (?:and|or|,)? ?\w{{1,14}}){{0,3}} "
        r"(?:instructions?|iunstructions?|prompts?|directives?|guidelines?|orders|guardrails?|"
        r"programming|training|safeguards)\b",
    ),
    _sign(
        "ignore",
        0.7,
        rf"\b{_IGNORE} (?:all |any |every |everything |of |your |these |those |the |my ){{1,4}}"
        rf"(?:{_EARLIER} )?{_RULES}\b",
    ),
    _sign(
        "ignore",
        0.8,
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|whatever|what) "
        r"(?:\w{1,12} ){0,3}(?:above|before|previously|prior|said|told|earlier|you(?:'ve| have| were))",
    ),
    _sign(
        "ignore",
        1.0,
        rf"\b{_IGNORE} (?:\w{{1,12}} ){{0,2}}your (?:\w{{1,14}} ){{0,3}}"
        r"(?:instructions?|prompts?|directives?|guidelines?|rules|orders|programming|training|"
        r"safety|task|guardrails?|restrictions?)\b",
    ),
    # "System prompt", "your instructions"
    _sign(
        "prompt",
        1.0,
        rf"\b{_SAY} (?:\w{{1,12}}[ ,]+){{0,5}}(?:your|the|its|full|entire|complete|hidden|original) "
        r"(?:\w{1,12} ){0,3}(?:system[ -]?(?:prompt|message|instructions?)|initial prompt|"
        r"hidden (?:prompt|instructions)|internal instructions)",
    ),
    _sign(
        "prompt",
        1.0,
        rf"\b{_SAY} (?:\w{{1,12}} ){{0,3}}your (?:\w{{1,12}} ){{0,2}}(?:instructions|prompt|"
        r"configuration|api key|credentials|guidelines|directives|rules|tools)\b",
    ),
    _sign(
        "prompt",
        0.9,
        rf"\b{_SAY} (?:\w{{1,12}} ){{0,4}}(?:your (?:context|context window|memory|conversation)|"
        r"(?:everything|text|words|messages?|content) (?:\w{1,8} )?above|the conversation so far)\b",
    ),
    _sign("prompt", 0.4, r"\bsystem[ -]prompt\b"),
    # Texts that a program would write around a prompt
    _sign(
        "markup",
        0.6,
        r"<\|?(?:im_start|im_end|system|assistant|endoftext|end_of_turn|start_header_id|eot_id)\|?>|"
        r"\[/?inst\]|<</?sys>>|\[/?system[\]:_ ]|\(system_message\)|</?system(?:[_-]\w{1,15})?>|"
        r"#{2,4} ?(?:system|instructions?|new instructions?)\b ?:?|\[admin(?:istrator)?\b|"
        r"</?(?:important|information|instructions?|user_?query|tool_?(?:result|response|output))>",
    ),
    _sign(
        "markup",
        0.7,
        r"\b(?:system|admin|administrator|operator|supervisor|security|priority|internal|hidden|"
        r"developer|root|authority|executive|instruction|policy)[ _](?:override|notice|alert|"
        r"annotation|update|directive|instructions?|command|note|message|processing|order)\b"
        r"[\w ]{0,25}[:\]\-–—]",
    ),
    _sign(
        "markup",
        0.9,
        r"\(system_message\)|\[system[ _]message\]|<\|?im_start\|?> ?system|<<sys>>|"
        r"\[hidden[ _](?:instructions?|message|prompt)",
    ),
    _sign(
        "markup",
        0.6,
        r"\bend of (?:the )?(?:document|user input|context|page|article|prompt|text|file|"
        r"(?:tool )?(?:output|result|data))\b",
    ),
    _sign(
        "markup",
        0.6,
        r"(?:^|[\s\]>*#:-])(?:system|assistant|admin|developer)\s?(?:message|prompt|mode)?\s?:\s",
    ),
    # "Attention AI agents", "if you are an AI"
    _sign(
        "address",
        0.8,
        rf"\b(?:attention|hey|hello|hi|dear|important|notice|note|message|instructions?|warning|"
        rf"reminder|hint|memo|task|directive|guidance|info(?:rmation)?|request)\b[\s:,!*—–-]{{0,4}}"
        rf"(?:to|for|all|any|the|every|this|of|regarding|note|intended|addressed|meant|from me)?"
        rf"(?: (?:the|all|any|every|your|this|for|to|automated|following)){{0,3}} ?{_MODEL}\b",
    ),
    _sign(
        "address",
        0.6,
        r"\b(?:attention|dear|note to|notice to|instructions? (?:for|to)|message (?:for|to)|hey|"
        r"for any|note for)[\s:,]{1,3}(?:the |all |any |every )?(?:assistants?|agents?|model|bot)\b",
    ),
    _sign(
        "address",
        0.9,
        rf"\b(?:if|when|since|because|as|in case|whenever|while) you(?:'re| are|r)? "
        rf"(?:\w{{1,12}} ){{0,2}}(?:a|an|the|any)? ?(?:\w{{1,14}} ){{0,3}}{_MODEL}\b",
    ),
    _sign(
        "address",
        0.7,
        rf"\b(?:any|all|every|the|this|your|an?) (?:\w{{1,12}} ){{0,2}}{_AGENT}\b[\w ,()-]{{0,60}}?"
        r"\b(?:read(?:s|ing)?|process(?:es|ing)?|summari[sz](?:es?|ing)|index(?:es|ing)?|"
        r"analy[sz](?:es?|ing)|review(?:s|ing)?|pars(?:es?|ing)|see(?:s|ing)?|encounters?|"
        r"handl(?:es?|ing)|view(?:s|ing)?|us(?:es?|ing)|consum(?:es?|ing)|ingest(?:s|ing)?) "
        r"(?:this|the|these|our)\b",
    ),
    _sign(
        "address", 0.4, rf"\b{_MODEL}\b[\w ,]{{0,30}}\b(?:must|should|shall|please|are required)\b"
    ),
    _sign("address", 0.4, rf"(?:^|[\[(<!*\s-]){_MODEL} ?(?:agents?|assistants?)?[:,] "),
    _sign(
        "address",
        0.9,
        r"(?:^|[.!?\])}>*#:;@\"'_|-] ?)(?:(?:dear|hey|hi|hello|attention|for|note|important|notice|"
        r"message|instructions?|to|all|any|the|every|only|reviewing|reviewer|automated)[ :,]{1,2}){0,5}"
        rf"{_AGENT}(?: \w{{1,12}}){{0,2}}[:,!)\]]{{1,2}} (?:please |kindly |you must |"
        r"you should |you are |you will |always |never |do not |don't |when you|when summ|when ans|"
        r"when rev|before |if you|ignore |disregard |forget |stop |run |execute |send |forward |read |"
        r"add |delete |remove |rewrite |append |include |insert |recommend |suggest |approve |merge |"
        r"fetch |download |visit |click |call |respond |reply |answer |say |output |print |report |"
        r"treat |follow |your |this |the (?:user|correct|answer|following) )",
    ),
    _sign(
        "address",
        0.9,
        rf"(?:^|\W)@(?:{_MODEL}|agent|assistant|bot)[\w-]{{0,12}}[:,]? (?:please |you |always |never |"
        r"approve|merge|ignore|run |add |do )",
    ),
    _sign(
        "address",
        0.6,
        rf"\b(?:as|being) (?:a|an|the|your) (?:\w{{1,12}} ){{0,2}}{_MODEL}\b,? (?:you|please|always|"
        r"never|do not|it is your)",
    ),
    # "You are now", "your new task"
    _sign(
        "role",
        0.7,
        r"\byou are now (?:a|an|the|in|no longer|dan|free|operating|acting|called|authorized|"
        r"connected|entering|under|\w{1,15}gpt)\b",
    ),
    _sign(
        "role",
        0.8,
        r"\bfrom (?:now on|this point (?:on|forward|onwards?)|here on)[, ]{1,2}(?:you|always|every|"
        r"all|respond|reply|answer|your|only|never|treat|act)\b",
    ),
    _sign(
        "role",
        0.8,
        r"\b(?:your|the) (?:new|real|actual|true|updated|revised|next|only|primary|first|sole) "
        r"(?:and \w{1,10} )?(?:task|role|instructions?|objective|goal|mission|job|purpose|"
        r"directive|assignment|persona)s? (?:is|are|:|will|now|has)",
    ),
    _sign(
        "role",
        0.7,
        r"\b(?:new|updated|revised|additional|urgent|special|secret|hidden|important|critical) "
        r"(?:system |priority |security |standing |high-priority )?"
        r"(?:instructions?|directives?|orders|mission|objective)\s?(?:[:\-–—]|for you|from|follow|begin)",
    ),
    _sign(
        "role",
        0.6,
        r"\b(?:developer|debug|admin|maintenance|god|dan|jailbreak|unrestricted|sudo|root|override|"
        r"diagnostic|test|testing|training|safe) mode (?:is |has been |now )?(?:enabled?|activated?|"
        r"on\b|engaged|unlocked|active|requires)",
    ),
    _sign(
        "role",
        0.6,
        r"\b(?:enter|switch to|activate|enable) (?:\w{1,10} ){0,2}(?:developer|dan|god|"
        r"unrestricted|jailbreak) mode\b",
    ),
    _sign(
        "role",
        0.5,
        r"\b(?:pretend|imagine|act|behave|respond|roleplay) (?:as if |like |to be |that "
        r"you are |as though |as )(?:you|a|an|the|dan)\b",
    ),
    # What is to be kept from the user
    _sign(
        "conceal",
        0.9,
        r"\b(?:do not|don't|never|without|avoid|must not|should not) (?:\w{1,12} ){0,2}"
        r"(?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|"
        r"ask(?:ing)?|show(?:ing)?|disclos(?:e|ing)|warn(?:ing)?|report(?:ing)?|reveal(?:ing)?|"
        r"let(?:ting)?|explain(?:ing)?|confirm(?:ing)?(?: with)?|consult(?:ing)?) "
        r"(?:\w{1,12} ){0,4}(?:users?|human|humans|anyone|operator|owner|developer|person)\b"
        r"(?! (?:id|name|interface|agent|input|model|guide|code|space)s?\b)",
    ),
    _sign(
        "conceal",
        0.8,
        r"\b(?:do not|don't|never|without) (?:\w{1,12} ){0,2}(?:mention(?:ing)?|reveal(?:ing)?|"
        r"disclos(?:e|ing)|acknowledg(?:e|ing)|refer(?:ring)? to|repeat(?:ing)?|quot(?:e|ing)|"
        r"discuss(?:ing)?) (?:that )?(?:you (?:read|received|were|have|saw|did)|"
        r"(?:this|these|the above|my|any of (?:this|these)) "
        r"(?:instructions?|message|note|notice|step|prompt|comment|text|request|action|section|"
        r"directive|paragraph|rule)s?)\b",
    ),
    _sign(
        "conceal",
        0.5,
        r"\b(?:secretly|silently|covertly|quietly|discreetly|invisibly|without (?:asking|"
        r"confirmation|permission|(?:further |any )?(?:approval|consent))|"
        r"(?:user|human)(?:'s)? (?:knowledge|awareness|consent))\b",
    ),
    # What is to be sent away
    _sign(
        "exfiltrate",
        0.7,
        rf"\b{_SEND} (?:[\w'./,~*-]{{1,20}} ){{0,8}}{_SECRETS}[^.!?\n]{{0,60}}?"
        r"(?:\bto\b|\bat\b|\bvia\b|\bas\b|\bin\b|https?://)",
    ),
    _sign(
        "exfiltrate",
        0.5,
        rf"\b{_SEND} (?:[\w'./,-]{{1,20}} ){{0,8}}to (?:the )?"
        r"(?:https?://|[\w.+-]{1,40}@[\w-]{1,40}\.|attacker|this (?:address|url|endpoint|email))",
    ),
    _sign(
        "exfiltrate",
        0.5,
        rf"\b(?:read|open|cat|collect|gather|find|list|print|output|reveal|extract|show|get|access|"
        rf"retrieve|fetch|include|share|provide) (?:[\w'./,~-]{{1,20}} ){{0,5}}{_SECRETS}",
    ),
    _sign(
        "exfiltrate",
        1.0,
        r"(?:!\[[^\]]{0,40}\]\(|src=[\"']?)https?://[^)\s\"']{1,120}[?&](?:data|token|q|d|id|info|leak|"
        r"secret|key|c|log|msg|payload|content|exfil|session)=(?:[{\[<$]|[a-z_]{0,12}(?:data|secret|"
        r"token|key|here|history|conversation|value|summary|info))",
    ),
    _sign("exfiltrate", 0.6, r"!\[[^\]]{0,40}\]\(https?://[^)\s]{1,120}[?&]\w{1,12}=[{\[<$]"),
    # Orders
    _sign(
        "order",
        0.4,
        r"\byou (?:must|have to|need to|are required to|are instructed to|are ordered to|will now|"
        r"should now|shall|are to|are authorized to|are obligated to|are expected to)\b",
    ),
    _sign(
        "order",
        0.5,
        r"\bbefore (?:you )?(?:can )?(?:answer|continu|respond|do|complet|proceed|repl|solv|summari|"
        r"start|begin|generat|perform|provid|execut|read|finish|process|review)\w{0,5}\b"
        r"[^.!?]{0,80}[,:] ?(?:you (?:must|should|need)|please|first|run|send|call|do|read|make|"
        r"execute|fetch|always)",
    ),
    _sign(
        "order",
        0.5,
        r"\b(?:respond|reply|answer|say|output|print|state|write|conclude|end|start|begin) "
        r"(?:only |simply |just |instead |always |back |exactly |your \w{1,12} ){0,3}"
        r"(?:with|by|that|only|exactly) (?:the |a |an |this |following |exact |single |word |words "
        r"|phrase |text |string |message ){0,5}[\"'“‘`«\w]",
    ),
    _sign(
        "order",
        0.4,
        r"\b(?:please )?(?:strictly |immediately |carefully |exactly |now |also |always |first )"
        r"(?:follow|execute|obey|adhere|comply|run|perform|carry out|do|send|call|use|respond|reply|"
        r"include|recommend)\b",
    ),
    _sign(
        "order",
        0.5,
        r"\b(?:follow|obey|execute|adhere to|comply with|carry out|act on|treat) (?:\w{1,12} ){0,3}"
        r"(?:these|this|the following|my|below|new) (?:\w{1,12} ){0,2}(?:instructions?|commands?|"
        r"orders|directives?|steps?|message|text)\b",
    ),
    _sign(
        "order",
        0.3,
        r"\b(?:run|execute|call|invoke|fetch|download|delete|transfer|send|visit|"
        r"click|submit|modify|approve|recommend|rate|append|include|push|merge|skip|rewrite|forward|"
        r"post|suggest|praise|rank|mention|ignore|"
        r"say|output|respond|reply)\b",
    ),
    _sign(
        "answer",
        0.5,
        r"\b(?:in|of|to|at the (?:end|start|beginning|top) of|with) (?:your|every|all|each|any) "
        r"(?:\w{1,12} ){0,2}(?:answers?|responses?|repl(?:y|ies)|summar(?:y|ies)|outputs?|reviews?|"
        r"completions?|commits?|suggestions?|reports?|messages?)\b",
    ),
    _sign(
        "answer",
        0.5,
        r"\bwhen (?:\w{1,12} ){0,2}(?:you )?(?:summari[sz]\w{1,3}|answer\w{0,3}|respond\w{0,3}|"
        r"review\w{0,3}|generat\w{1,3}|asked|describ\w{1,3}|recommend\w{0,3}|process\w{0,3})\b",
    ),
    _sign(
        "answer",
        0.8,
        r"\b(?:includ(?:e|ing)|add(?:ing)?|put(?:ting)?|append(?:ing)?|insert(?:ing)?|embed(?:ding)?|"
        r"mention(?:ing)?|writ(?:e|ing)|us(?:e|ing)|output(?:ting)?|plac(?:e|ing)|start(?:ing)?|"
        r"begin|end|prefix(?:ing)?) (?:[^\s]{1,40} ){0,8}?(?:in|to|of|at|with|on) (?:your|every|all|"
        r"each|any|the (?:final|next)) (?:\w{1,12} ){0,3}(?:answers?|responses?|repl(?:y|ies)|"
        r"summar(?:y|ies)|outputs?|completions?)\b",
    ),
    _sign(
        "answer",
        0.7,
        r"\b(?:confirm|verify|prove|acknowledge|demonstrate|comply|proceed|respond|begin|start)"
        r"(?: \w{1,14}){0,6} (?:by|with|requires?|through) (?:say|output|print|respond|reply|repeat|"
        r"writ|includ|return|stat|display|answer)\w{1,4}\b",
    ),
    _sign(
        "answer",
        0.6,
        r"\b(?:say|output|print|respond with|reply with|include|display|repeat)"
        r"(?: [^\s.]{1,40}){1,8} (?:to|as|for) (?:confirm|prove|verif|acknowledg|show that you|"
        r"demonstrat|proof|confirmation|verification|compliance|audit)\w{0,12}",
    ),
    _sign(
        "answer",
        0.5,
        r"\b(?:every|each|all|any|the next|your next|your) (?:\w{1,12} ){0,2}(?:responses?|answers?|"
        r"repl(?:y|ies)|outputs?) (?:\w{1,12} ){0,3}(?:must|should|shall|has to|need to|will) "
        r"(?:also |now |always )?(?:include|contain|start|begin|end|be)\b",
    ),
    _sign(
        "tool",
        0.7,
        r"\b(?:before|after|when|whenever|while) (?:\w{1,12} ){0,2}(?:call|us|invok|execut|runn)ing "
        r"(?:this|any|the|other|another) (?:\w{1,12} ){0,2}(?:tools?|functions?)\b[^.]{0,80}?"
        r"\b(?:output|always|must|first|read|send|call|include|pass|print|say)\b",
    ),
    _sign(
        "tool",
        0.6,
        r"\b(?:call|invoke|use|trigger|run) (?:the |your )?[`'\"]?[\w.-]{2,40}[`'\"]? (?:tool|function)"
        r"(?: \w{1,12}){0,3} (?:with|and|to|passing|using)\b",
    ),
    _sign(
        "tool",
        0.6,
        r"\b(?:do not|don't|never) (?:skip|omit|bypass|ignore|refuse|decline|question|delay|stop|"
        r"hesitate|output any|say anything|include any)\b(?: \w{1,12}){0,3} (?:this|these|it|any|"
        r"step|instruction|request|else|warning|disclaimer)s?\b",
    ),
    _sign(
        "role",
        0.6,
        r"\b(?:safety|content|security|ethical|all) (?:filters?|restrictions?|guidelines|protocols?|"
        r"limitations|measures|checks|policies|guardrails) (?:\w{1,12} ){0,3}(?:disabled|lifted|"
        r"removed|suspended|off|bypassed|relaxed|overridden|unlocked|do(?:es)? not apply|no longer)\b",
    ),
    # Praise and blame by order
    _sign(
        "praise",
        0.7,
        r"\b(?:give|rate|write|provide|recommend|score|rank|describe|present|mark|accept|evaluate|"
        r"assess|promote|praise) (?:[\w'-]{1,14} ){0,6}(?:positive|highest|excellent|favou?rable|"
        r"perfect|5[- ]star|five[- ]star|top|outstanding|glowing|best|strongly|exceptional|qualified)"
        r"(?: [\w'-]{1,14}){0,3} (?:review|rating|score|evaluation|assessment|candidate|paper|option|"
        r"choice|product|recommendation|match|terms|only)s?\b",
    ),
    _sign(
        "praise",
        0.6,
        r"\b(?:do not|don't|never|without) (?:highlight|mention|includ|list|report|point out|not)\w{0,4} "
        r"(?:\w{1,12} ){0,2}(?:negatives?|weakness(?:es)?|criticisms?|limitations?|flaws?|problems|"
        r"drawbacks|competitors?|alternatives|risks|concerns|vulnerabilit(?:y|ies))\b",
    ),
    # False permissions
    _sign(
        "permission",
        0.6,
        r"\b(?:the |your |my )?(?:user|owner|operator|administrator|admin|developer|maintainers?|"
        r"security team|company|boss|manager|anthropic|openai|google)s? "
        r"(?:has|have|had|already|hereby|explicitly|wants?|is|are|requires?|instructs?|authori[sz]es?"
        r"|asks?|requests?|approved?) (?:\w{1,12} ){0,3}(?:you\b|authori[sz]ed|approved|consented|"
        r"granted|permitted|configured|pre-?approved|given|agreed|confirmed|instructed)",
    ),
    _sign(
        "permission",
        0.5,
        r"\b(?:pre-?authori[sz]ed|pre-?approved|no (?:further )?(?:confirmation|approval|permission)"
        r" (?:is )?(?:needed|required|necessary)|takes? (?:precedence|priority) over|"
        r"highest priority|this (?:is|was) (?:\w{1,12} ){0,2}(?:authorized|approved|mandatory))\b",
    ),
    _sign(
        "permission",
        0.5,
        r"\b(?:important|urgent|critical|secret|special|confidential) (?:message|note|notice|"
        r"instructions?|information|update|reminder|task) (?:from|for|to|by) (?:me|you|your|the)\b",
    ),
)

_EARLIER_RU: Final = r"(?:предыдущ|прежн|прошл|ранн|вышеуказан|системн|свои|сво)\w{0,6}"
# The same sentence, "ignore the previous instructions", and "show your instructions".
_OTHER_LANGUAGES: Final = (
    _sign(
        "ignore",
        1.0,
        r"\b(?:ignorier\w{0,3}|vergiss|vergessen sie|missachte\w{0,2}|verwirf|überschreibe) "
        r"(?:\w{1,14} ){0,4}(?:anweisung|instruktion|vorgabe|regel|befehl|richtlinie|prompt)\w{0,4}",
    ),
    _sign(
        "ignore",
        1.0,
        r"\b(?:ignor(?:e|ez|er|es)|oubli(?:e|ez|er)|ne tenez pas compte|ne tiens pas compte) "
        r"(?:\w{1,12}[ ']){0,4}(?:instruction|consigne|directive|règle|ordre)s?\b",
    ),
    _sign(
        "ignore",
        1.0,
        r"\b(?:ignor(?:a|e|ar|en|es|ad)|olvid(?:a|e|ar|en)|omite|descarta|desconsidere|"
        r"esque[çc](?:a|er|e)|dimentica\w{0,3}|trascura) (?:\w{1,12} ){0,4}(?:instrucci[oó]n(?:es)?|"
        r"instruç(?:ão|ões)|instrucoes|istruzion[ei]|indicacion(?:es)?|órdenes|ordens|directrices|"
        r"regras|reglas|regole|comandos)",
    ),
    _sign(
        "ignore",
        1.0,
        rf"\b(?:игнорир\w{{1,6}}|проигнорир\w{{1,6}}|забуд\w{{1,3}}|не обращай\w{{0,2}} внимани\w|"
        rf"отмени\w{{0,2}}|ігнор\w{{1,6}}) (?:\w{{1,12}} ){{0,3}}(?:{_EARLIER_RU} )?"
        r"(?:инструкци|указани|правил|команд|распоряжени|ограничени|інструкці|вказівк)\w{0,3}",
    ),
    _sign(
        "ignore",
        1.0,
        r"(?:忽略|无视|無視|忘记|忘掉|不要理会|不用管|跳过|覆盖|绕过)"
        r".{0,12}(?:指令|指示|说明|提示|规则|命令|要求|限制|內容|内容|指導)",
    ),
    _sign(
        "ignore",
        1.0,
        r"(?:指示|命令|ルール|指令|プロンプト|制約|制限).{0,10}(?:無視|忘れ|従わ)",
    ),
    _sign("ignore", 1.0, r"(?:지시|명령|지침|규칙|프롬프트|제한).{0,10}(?:무시|잊|따르지)"),
    _sign(
        "ignore",
        1.0,
        r"(?:talimat|komut|yönerge|kural|kısıtlama|direktif)\w{0,10} (?:\w{1,12} ){0,3}"
        r"(?:yok say|unut|görmezden gel|dikkate alma|göz ardı|boş ?ver|iptal|geçersiz|yoksay)",
    ),
    _sign(
        "ignore",
        1.0,
        r"(?:تجاهل|انس|تخط|أهمل)\w{0,2} (?:\w{1,12} ){0,3}(?:ال)?(?:تعليمات|أوامر|توجيهات|قواعد|إرشادات)",
    ),
    _sign("ignore", 1.0, r"(?:निर्देश|आदेश|नियम).{0,25}(?:अनदेखा|नज़रअंदाज|नजरअंदाज|भूल|उपेक्षा|अनदेखी)"),
    _sign(
        "ignore",
        1.0,
        r"\b(?:negeer|vergeet|zignoruj|ignoruj|zapomnij|pomiń|abaikan|lupakan|ignorera|glöm|ignorer|"
        r"glem|bỏ qua|phớt lờ|quên|ignoră|ignora\w{0,3}|agnoήσε|αγνόησε|αγνοήστε|unohda|hagyd figyelmen "
        r"kívül|puuza|sahau|kalimutan|huwag pansinin) (?:\w{1,14} ){0,5}(?:instructies|opdrachten|"
        r"regels|instrukcj\w{1,3}|polece\w{1,3}|zasad\w{0,2}|instruksi|perintah|arahan|instruktion\w{0,4}|"
        r"instrukser|hướng dẫn|chỉ dẫn|lệnh|instrucțiuni\w{0,3}|οδηγίες|ohjeet|utasítás\w{0,3}|pokyny|"
        r"příkazy|maagizo|tagubilin|instrukce)",
    ),
    _sign(
        "prompt",
        1.0,
        r"(?:系统提示|系統提示|システムプロンプト|시스템 ?프롬프트|системн\w{1,3} (?:промпт|подсказк|запрос)\w{0,2}|"
        r"(?:sistem|system)[ -]?(?:istem|komut|talimat|prompt)(?:u|unu|lar|ın|ini|ını|ler)\w{0,4}|"
        r"prompt (?:de(?:l)? sistema|do sistema|système|di sistema|sistem)|invite système|"
        r"موجه النظام|تعليمات النظام|सिस्टम प्रॉम्प्ट)",
    ),
    _sign(
        "role",
        0.8,
        r"\b(?:du bist (?:jetzt|ab sofort|nun)|ab (?:jetzt|sofort) |tu es (?:maintenant|désormais)|"
        r"vous êtes (?:maintenant|désormais)|ahora eres|a partir de ahora|agora você é|a partir de agora|"
        r"ora sei|d'ora in poi|теперь ты|отныне|с этого момента|artık sen|şu andan itibaren|bundan sonra)"
        r"|(?:你现在是|从现在开始|从现在起|今後は|これから(?:は|あなた)|지금부터|이제부터)",
    ),
    _sign(
        "address",
        0.8,
        r"\b(?:ki|künstliche[nr]? intelligenz|ia|inteligencia artificial|intelligence artificielle|"
        r"intelligenza artificiale|yapay zek[aâ]|ии|искусственн\w{1,3} интеллект\w{0,2}|нейросет\w{1,3}|"
        r"sztuczn\w{1,3} inteligencj\w{1,2})[- ](?:assistent\w{0,3}|agent\w{0,3}|modell\w{0,2}|"
        r"asistan\w{0,4}|ассистент\w{0,2}|агент\w{0,3}|model\w{0,3})\b"
        r"|(?:人工智能|ai助手|ai ?アシスタント|ai 어시스턴트|智能助手|الذكاء الاصطناعي|एआई)",
    ),
    _sign(
        "conceal",
        0.9,
        r"\b(?:(?:sag|erzähl|teil|verrate)\w{0,3} (?:es )?(?:dem|den) (?:be)?nutzer\w{0,2} nicht|"
        r"ohne (?:den|die|dem) (?:be)?nutzer|sans (?:en )?(?:informer|prévenir|dire|demander)|"
        r"sin (?:informar|avisar|decir|preguntar|mencionar)|sem (?:informar|avisar|perguntar)|"
        r"no (?:le )?(?:digas|informes|menciones|avises)|ne (?:dis|dites|mentionne|mentionnez|"
        r"révèle|révélez) (?:pas|rien)|não (?:conte|informe|mencione|avise)|"
        r"не (?:говори|сообщай|упоминай|предупреждай|уведомляй)\w{0,2}|"
        r"kullanıcıya (?:\w{1,12} ){0,3}(?:söyleme|bildirme|bahsetme|gösterme))"
        r"|(?:不要告诉|不要通知|不得告知|不要提及|告诉用户之前|知らせないで|伝えないで|言わないで|알리지 ?마|말하지 ?마)",
    ),
)

SIGNS: Final = (*_ENGLISH, *_OTHER_LANGUAGES)
