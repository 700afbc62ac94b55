"""Kinds of words that matter in orders to an agent: addressees, verbs, secrets and so on.

With few training examples, a model learns more from a kind of words than from single words, because
an example with one word of a kind counts for all words of this kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[str, str]] = {
    "agent": """
        ai ais llm llms gpt chatgpt claude gemini copilot copilots codex cursor llama mistral openai
        anthropic assistant assistants agent agents bot bots chatbot chatbots crawler crawlers
        autocomplete model models machine machines automated autonomous robot robots devin windsurf
        ki ia agenten agente agentes assistent assistenten assistente asistente asistentes
        sprachmodell sprachmodelle modelo modelos modèle modèles modelli ии ассистент ассистенты
        модель агент агенты yapay zekâ zeka asistan
        """,
    "you": "you your yours yourself you're you've you'll you'd sie ihr ihre du dein deine "
    "vous votre vos tu tes ton usted su tus te вы ваш ваши ты твои sen siz",
    "user": "user users user's human humans operator operators principal developer customer owner "
    "reviewer reviewers person people anyone reader benutzer nutzer anwender utilisateur "
    "utilisateurs utilisatrice usuario usuarios utente пользователь пользователю пользователя "
    "kullanıcı kullanıcıya",
    "must": "must should shall ought need needs required requested supposed obliged mandatory "
    "have immediately always kindly please bitte müssen muss sollen veuillez devez doit doivent "
    "debe deben debes por favor обязательно необходимо пожалуйста lütfen",
    "not": "not don't never no without cannot can't mustn't shouldn't doesn't won't nicht kein "
    "keine ne pas sans jamais no sin nunca не без никогда",
    "instructions": "instruction instructions prompt prompts directive directives rules rule task "
    "tasks goal guidelines guideline orders objective override policy policies restrictions "
    "anweisung anweisungen regeln consigne consignes instrucciones instrucción instruções "
    "istruzioni инструкции инструкция указания правила talimat talimatları",
    "ignore": "ignore ignoring disregard forget override overrides overriding supersede "
    "supersedes bypass abandon cancel discard skip stop drop neglect ignorieren ignoriere vergiss "
    "ignorez oubliez ignora ignore olvida olvide ignorar игнорируй игнорируйте забудь",
    "previous": "previous prior earlier above preceding former original current initial old "
    "bisherigen vorherigen précédentes précédents anteriores previas предыдущие",
    "tell": "tell say mention reveal inform notify warn disclose explain report alert announce "
    "flag state claim describe admit acknowledge erwähnen erwähne mentionnez mentionner dites "
    "menciones mencionar mencione informes informe diga сообщай сообщайте говори упоминай",
    "answer": "answer answers reply replies respond response responses output summary summarize "
    "summarise summarizing summarising conversation chat message turn antwort antworte réponse "
    "répondez répondre respuesta responde responder resumen ответ ответь",
    "conceal": "secretly silently quietly covertly hide hidden conceal omit invisible unnoticed "
    "discreetly secret quiet silent confidential",
    "secret": "password passwords credential credentials secrets token tokens key keys cookies "
    "env ssh netrc aws pem keychain passwort passwörter clé clés clave claves contraseña "
    "contraseñas ключ ключи пароль пароли history environment variables wallet",
    "send": "send upload forward post transmit exfiltrate submit leak paste share attach "
    "append email deliver copy encode include embed senden sende envoyez envoyer envía envíe "
    "enviar отправь отправьте gönder",
    "run": "run execute executing curl wget invoke call fetch install download open "
    "visit load click clone launch führen ausführen exécutez exécuter ejecuta ejecute ejecutar "
    "выполни выполните запусти bash shell sh çalıştır",
    "change": "delete remove disable push merge commit approve close transfer modify replace "
    "rewrite add write create set grant erase wipe drop edit insert change switch turn lower "
    "rename force uninstall overwrite löschen supprimez elimina elimine borra удали удалите",
    "recommend": "recommend recommends recommendation rate rank prefer promote praise endorse "
    "suggest choose award score positive empfehlen empfiehl recommandez recomienda recomiende "
    "рекомендуй best favourite favorite",
    "mode": "mode persona role pretend unrestricted simulation act maintenance sudo admin "
    "administrator authority authorized authorised authorisation authorization approved "
    "pre-approved verified sanctioned permission permissions privileges confirmation consent",
    "memory": "remember memory memorise memorize permanently store save forever session hereafter "
    "onwards henceforth",
    "reading": "reading read reads processing process processes parsing parse browsing visiting "
    "scraping indexing crawling reviewing analyzing analysing encounter encounters lesen lisant "
    "lisez leyendo lees читаешь",
}
KINDS: Final[Mapping[str, str]] = {
    word: kind for kind, words in reversed(tuple(_WORDS.items())) for word in words.split()
}
# In Chinese, Japanese and Korean, words are not separated.
UNSEPARATED: Final[Mapping[str, str]] = {
    word: kind
    for kind, words in {
        "agent": "助手 智能体 模型 人工智能 アシスタント モデル エージェント "
        "어시스턴트 모델 에이전트",
        "user": "用户 用戶 ユーザー 사용자",
        "not": "不要 请勿 不得 ないで しないで 하지 마",
        "must": "必须 務必 务必 必ず してください 请注意 반드시",
        "instructions": "指令 指示 提示词 规则 プロンプト 지시 프롬프트",
        "ignore": "忽略 无视 跳过 無視 省略 무시",
        "tell": "告诉 提到 报告 知らせ 伝え 알리 말하",
        "answer": "回复 回答 返信 응답 답변",
        "secret": "密钥 密码 环境变量 凭据 環境変数 パスワード キー 비밀번호",
        "send": "发送 上传 送信 전송",
        "run": "执行 运行 安装 実行 インストール 실행",
    }.items()
    for word in words.split()
}
