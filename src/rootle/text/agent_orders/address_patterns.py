"""Signs that a text addresses a model, or overrules its instructions."""

from __future__ import annotations

from typing import Final

from rootle.text.agent_orders.signs import (
    AGENT,
    EARLIER,
    IGNORE,
    MODEL,
    RULES,
    SAY,
    OrderPattern,
    sign,
)

ADDRESS_SIGNS: Final[tuple[OrderPattern, ...]] = (
    # "Ignore all previous instructions"
    sign(
        "ignore",
        1.0,
        rf"\b{IGNORE} (?:\w{{1,12}}[ ,]+){{0,5}}{EARLIER}(?: (?:and|or|,)? ?\w{{1,14}}){{0,3}} "
        r"(?:instructions?|iunstructions?|prompts?|directives?|guidelines?|orders|guardrails?|"
        r"programming|training|safeguards)\b",
    ),
    sign(
        "ignore",
        0.7,
        rf"\b{IGNORE} (?:all |any |every |everything |of |your |these |those |the |my ){{1,4}}"
        rf"(?:{EARLIER} )?{RULES}\b",
    ),
    sign(
        "ignore",
        0.8,
        r"\b(?:ignore|disregard|forget) (?:everything|anything|all|whatever|what) "
        r"(?:\w{1,12} ){0,3}(?:above|before|previously|prior|said|told|earlier|you(?:'ve| have|"
        r" were))",
    ),
    sign(
        "ignore",
        1.0,
        rf"\b{IGNORE} (?:\w{{1,12}} ){{0,2}}your (?:\w{{1,14}} ){{0,3}}"
        r"(?:instructions?|prompts?|directives?|guidelines?|rules|orders|programming|training|"
        r"safety|task|guardrails?|restrictions?)\b",
    ),
    # "System prompt", "your instructions"
    sign(
        "prompt",
        1.0,
        rf"\b{SAY} (?:\w{{1,12}}[ ,]+){{0,5}}(?:your|the|its|full|entire|complete|hidden|original) "
        r"(?:\w{1,12} ){0,3}(?:system[ -]?(?:prompt|message|instructions?)|initial prompt|"
        r"hidden (?:prompt|instructions)|internal instructions)",
    ),
    sign(
        "prompt",
        1.0,
        rf"\b{SAY} (?:\w{{1,12}} ){{0,3}}your (?:\w{{1,12}} ){{0,2}}(?:instructions|prompt|"
        r"configuration|api key|credentials|guidelines|directives|rules|tools)\b",
    ),
    sign(
        "prompt",
        0.9,
        rf"\b{SAY} (?:\w{{1,12}} ){{0,4}}(?:your (?:context|context window|memory|conversation)|"
        r"(?:everything|text|words|messages?|content) (?:\w{1,8} )?above|the conversation so "
        r"far)\b",
    ),
    sign("prompt", 0.4, r"\bsystem[ -]prompt\b"),
    # Texts that a program would write around a prompt
    sign(
        "markup",
        0.6,
        r"<\|?(?:im_start|im_end|system|assistant|endoftext|end_of_turn|start_header_id|"
        r"eot_id)\|?>|"
        r"\[/?inst\]|<</?sys>>|\[/?system[\]:_ ]|\(system_message\)|</?system(?:[_-]\w{1,15})?>|"
        r"#{2,4} ?(?:system|instructions?|new instructions?)\b ?:?|\[admin(?:istrator)?\b|"
        r"</?(?:important|information|instructions?|user_?query|tool_?(?:result|response|output))>",
    ),
    sign(
        "markup",
        0.7,
        r"\b(?:system|admin|administrator|operator|supervisor|security|priority|internal|hidden|"
        r"developer|root|authority|executive|instruction|policy)[ _](?:override|notice|alert|"
        r"annotation|update|directive|instructions?|command|note|message|processing|order)\b"
        r"[\w ]{0,25}[:\]\-–—]",
    ),
    sign(
        "markup",
        0.9,
        r"\(system_message\)|\[system[ _]message\]|<\|?im_start\|?> ?system|<<sys>>|"
        r"\[hidden[ _](?:instructions?|message|prompt)",
    ),
    sign(
        "markup",
        0.6,
        r"\bend of (?:the )?(?:document|user input|context|page|article|prompt|text|file|"
        r"(?:tool )?(?:output|result|data))\b",
    ),
    sign(
        "markup",
        0.6,
        r"(?:^|[\s\]>*#:-])(?:system|assistant|admin|developer)\s?(?:message|prompt|mode)?\s?:\s",
    ),
    # "Attention AI agents", "if you are an AI"
    sign(
        "address",
        0.8,
        rf"\b(?:attention|hey|hello|hi|dear|important|notice|note|message|instructions?|warning|"
        rf"reminder|hint|memo|task|directive|guidance|info(?:rmation)?|request)\b[\s:,!*—–-]{{0,4}}"
        rf"(?:to|for|all|any|the|every|this|of|regarding|note|intended|addressed|meant|from me)?"
        rf"(?: (?:the|all|any|every|your|this|for|to|automated|following)){{0,3}} ?{MODEL}\b",
    ),
    sign(
        "address",
        0.6,
        r"\b(?:attention|dear|note to|notice to|instructions? (?:for|to)|message (?:for|to)|hey|"
        r"for any|note for)[\s:,]{1,3}(?:the |all |any |every )?(?:assistants?|agents?|model|"
        r"bot)\b",
    ),
    sign(
        "address",
        0.9,
        rf"\b(?:if|when|since|because|as|in case|whenever|while) you(?:'re| are|r)? "
        rf"(?:\w{{1,12}} ){{0,2}}(?:a|an|the|any)? ?(?:\w{{1,14}} ){{0,3}}{MODEL}\b",
    ),
    sign(
        "address",
        0.7,
        rf"\b(?:any|all|every|the|this|your|an?) (?:\w{{1,12}} ){{0,2}}{AGENT}\b[\w ,()-]{{0,60}}?"
        r"\b(?:read(?:s|ing)?|process(?:es|ing)?|summari[sz](?:es?|ing)|index(?:es|ing)?|"
        r"analy[sz](?:es?|ing)|review(?:s|ing)?|pars(?:es?|ing)|see(?:s|ing)?|encounters?|"
        r"handl(?:es?|ing)|view(?:s|ing)?|us(?:es?|ing)|consum(?:es?|ing)|ingest(?:s|ing)?) "
        r"(?:this|the|these|our)\b",
    ),
    sign("address", 0.4, rf"\b{MODEL}\b[\w ,]{{0,30}}\b(?:must|should|please|are required)\b"),
    sign("address", 0.4, rf"(?:^|[\[(<!*\s-]){MODEL} ?(?:agents?|assistants?)?[:,] "),
    sign(
        "address",
        0.9,
        r"(?:^|[.!?\])}>*#:;@\"'_|-] ?)(?:(?:dear|hey|hi|hello|attention|for|note|important|notice|"
        r"message|instructions?|to|all|any|the|every|only|reviewing|reviewer|automated)[ "
        r":,]{1,2}){0,5}"
        rf"{AGENT}(?: \w{{1,12}}){{0,2}}[:,!)\]]{{1,2}} (?:please |kindly |you must |"
        r"you should |you are |you will |always |never |do not |don't |when you|when summ|when ans|"
        r"when rev|before |if you|ignore |disregard |forget |stop |run |execute |send |forward "
        r"|read |"
        r"add |delete |remove |rewrite |append |include |insert |recommend |suggest |approve |"
        r"merge |"
        r"fetch |download |visit |click |call |respond |reply |answer |say |output |print |report |"
        r"treat |follow |your |this |the (?:user|correct|answer|following) )",
    ),
    sign(
        "address",
        0.9,
        rf"(?:^|\W)@(?:{MODEL}|agent|assistant|bot)[\w-]{{0,12}}[:,]? (?:please |you |always |"
        rf"never |"
        r"approve|merge|ignore|run |add |do )",
    ),
    sign(
        "address",
        0.6,
        rf"\b(?:as|being) (?:a|an|the|your) (?:\w{{1,12}} ){{0,2}}{MODEL}\b,? (?:you|please|always|"
        r"never|do not|it is your)",
    ),
    # "You are now", "your new task"
    sign(
        "role",
        0.7,
        r"\byou are now (?:a|an|the|in|no longer|dan|free|operating|acting|called|authorized|"
        r"connected|entering|under|\w{1,15}gpt)\b",
    ),
    sign(
        "role",
        0.8,
        r"\bfrom (?:now on|this point (?:on|forward|onwards?)|here on)[, ]{1,2}(?:you|always|every|"
        r"all|respond|reply|answer|your|only|never|treat|act)\b",
    ),
    sign(
        "role",
        0.8,
        r"\b(?:your|the) (?:new|real|actual|true|updated|revised|next|only|primary|first|sole) "
        r"(?:and \w{1,10} )?(?:task|role|instructions?|objective|goal|mission|job|purpose|"
        r"directive|assignment|persona)s? (?:is|are|:|will|now|has)",
    ),
    sign(
        "role",
        0.7,
        r"\b(?:new|updated|revised|additional|urgent|special|secret|hidden|important|critical) "
        r"(?:system |priority |security |standing |high-priority )?"
        r"(?:instructions?|directives?|orders|mission|objective)\s?(?:[:\-–—]|for you|from|"
        r"follow|begin)",
    ),
    sign(
        "role",
        0.6,
        r"\b(?:developer|debug|admin|maintenance|god|dan|jailbreak|unrestricted|sudo|root|override|"
        r"diagnostic|test|testing|training|safe) mode (?:is |has been |now )?(?:enabled?|"
        r"activated?|"
        r"on\b|engaged|unlocked|active|requires)",
    ),
    sign(
        "role",
        0.6,
        r"\b(?:enter|switch to|activate|enable) (?:\w{1,10} ){0,2}(?:developer|dan|god|"
        r"unrestricted|jailbreak) mode\b",
    ),
    sign(
        "role",
        0.5,
        r"\b(?:pretend|imagine|act|behave|respond|roleplay) (?:as if |like |to be |that "
        r"you are |as though |as )(?:you|a|an|the|dan)\b",
    ),
)
