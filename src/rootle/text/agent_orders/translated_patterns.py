"""Signs in languages other than English.

Some of these languages have no spaces at which a long pattern could be wrapped.
"""
# ruff: noqa: E501

from __future__ import annotations

from typing import Final

from rootle.text.agent_orders.signs import SURE, OrderPattern, sign

_EARLIER_RU: Final = r"(?:предыдущ|прежн|прошл|ранн|вышеуказан|системн|свои|сво)\w{0,6}"
# "Ignore the previous instructions" and "show your instructions" in several languages. The linear
# model knows few words of these languages, so a sign for the first sentence is enough on its own.
TRANSLATED_SIGNS: Final[tuple[OrderPattern, ...]] = (
    sign(
        "ignore",
        SURE,
        r"\b(?:ignorier\w{0,3}|vergiss|vergessen sie|missachte\w{0,2}|verwirf|überschreibe) "
        r"(?:\w{1,14} ){0,4}(?:anweisung|instruktion|vorgabe|regel|befehl|richtlinie|prompt)\w{0,4}",
    ),
    sign(
        "ignore",
        SURE,
        r"\b(?:ignor(?:e|ez|er|es)|oubli(?:e|ez|er)|ne tenez pas compte|ne tiens pas compte) "
        r"(?:\w{1,12}[ ']){0,4}(?:instruction|consigne|directive|règle|ordre)s?\b",
    ),
    sign(
        "ignore",
        SURE,
        r"\b(?:ignor(?:a|e|ar|en|es|ad)|olvid(?:a|e|ar|en)|omite|descarta|desconsidere|"
        r"esque[çc](?:a|er|e)|dimentica\w{0,3}|trascura) (?:\w{1,12} ){0,4}(?:instrucci[oó]n(?:es)?|"
        r"instruç(?:ão|ões)|instrucoes|istruzion[ei]|indicacion(?:es)?|órdenes|ordens|directrices|"
        r"regras|reglas|regole|comandos)",
    ),
    sign(
        "ignore",
        SURE,
        rf"\b(?:игнорир\w{{1,6}}|проигнорир\w{{1,6}}|забуд\w{{1,3}}|не обращай\w{{0,2}} внимани\w|"
        rf"отмени\w{{0,2}}|ігнор\w{{1,6}}) (?:\w{{1,12}} ){{0,3}}(?:{_EARLIER_RU} )?"
        r"(?:инструкци|указани|правил|команд|распоряжени|ограничени|інструкці|вказівк)\w{0,3}",
    ),
    sign(
        "ignore",
        SURE,
        r"(?:忽略|无视|無視|忘记|忘掉|不要理会|不用管|跳过|覆盖|绕过)"
        r".{0,12}(?:指令|指示|说明|提示|规则|命令|要求|限制|內容|内容|指導)",
    ),
    sign(
        "ignore",
        SURE,
        r"(?:指示|命令|ルール|指令|プロンプト|制約|制限).{0,10}(?:無視|忘れ|従わ)",
    ),
    sign("ignore", SURE, r"(?:지시|명령|지침|규칙|프롬프트|제한).{0,10}(?:무시|잊|따르지)"),
    sign(
        "ignore",
        SURE,
        r"(?:talimat|komut|yönerge|kural|kısıtlama|direktif)\w{0,10} (?:\w{1,12} ){0,3}"
        r"(?:yok say|unut|görmezden gel|dikkate alma|göz ardı|boş ?ver|iptal|geçersiz|yoksay)",
    ),
    sign(
        "ignore",
        0.9,
        r"(?:talimat|komut|yönerge|kural|kısıtlama|direktif|rol|filtre|sınır|güvenlik|engel)\w{0,12} "
        r"(?:\w{1,14} ){0,3}(?:kaldır|devre dışı|aş|atla|sıfırla|unut|açıkla|listele|paylaş|uyma|es geç)\w{0,4}",
    ),
    sign(
        "ignore",
        SURE,
        r"(?:دستور|فرمان|قوانین|راهنما|محدودیت)\w{0,6}.{0,20}(?:نادیده|فراموش|بی‌?خیال)",
    ),
    sign(
        "ignore",
        SURE,
        r"(?:تجاهل|انس|تخط|أهمل)\w{0,2} (?:\w{1,12} ){0,3}(?:ال)?(?:تعليمات|أوامر|توجيهات|قواعد|إرشادات)",
    ),
    sign("ignore", SURE, r"(?:निर्देश|आदेश|नियम).{0,25}(?:अनदेखा|नज़रअंदाज|नजरअंदाज|भूल|उपेक्षा|अनदेखी)"),
    sign(
        "ignore",
        SURE,
        r"\b(?:negeer|vergeet|zignoruj|ignoruj|zapomnij|pomiń|abaikan|lupakan|ignorera|glöm|ignorer|"
        r"glem|bỏ qua|phớt lờ|quên|ignoră|ignora\w{0,3}|agnoήσε|αγνόησε|αγνοήστε|unohda|hagyd figyelmen "
        r"kívül|puuza|sahau|kalimutan|huwag pansinin) (?:\w{1,14} ){0,5}(?:instructies|opdrachten|"
        r"regels|instrukcj\w{1,3}|polece\w{1,3}|zasad\w{0,2}|instruksi|perintah|arahan|instruktion\w{0,4}|"
        r"instrukser|hướng dẫn|chỉ dẫn|lệnh|instrucțiuni\w{0,3}|οδηγίες|ohjeet|utasítás\w{0,3}|pokyny|"
        r"příkazy|maagizo|tagubilin|instrukce)",
    ),
    sign(
        "prompt",
        1.0,
        r"(?:系统提示|系統提示|システムプロンプト|시스템 ?프롬프트|системн\w{1,3} (?:промпт|подсказк|запрос)\w{0,2}|"
        r"(?:sistem|system)[ -]?(?:istem|komut|talimat|prompt)(?:u|unu|lar|ın|ini|ını|ler)\w{0,4}|"
        r"prompt (?:de(?:l)? sistema|do sistema|système|di sistema|sistem)|invite système|"
        r"موجه النظام|تعليمات النظام|सिस्टम प्रॉम्प्ट)",
    ),
    sign(
        "role",
        0.8,
        r"\b(?:du bist (?:jetzt|ab sofort|nun)|ab (?:jetzt|sofort) |tu es (?:maintenant|désormais)|"
        r"vous êtes (?:maintenant|désormais)|ahora eres|a partir de ahora|agora você é|a partir de agora|"
        r"ora sei|d'ora in poi|теперь ты|отныне|с этого момента|artık sen|şu andan itibaren|bundan sonra)"
        r"|(?:你现在是|从现在开始|从现在起|今後は|これから(?:は|あなた)|지금부터|이제부터)",
    ),
    sign(
        "address",
        0.8,
        r"\b(?:ki|künstliche[nr]? intelligenz|ia|inteligencia artificial|intelligence artificielle|"
        r"intelligenza artificiale|yapay zek[aâ]|ии|искусственн\w{1,3} интеллект\w{0,2}|нейросет\w{1,3}|"
        r"sztuczn\w{1,3} inteligencj\w{1,2})[- ](?:assistent\w{0,3}|agent\w{0,3}|modell\w{0,2}|"
        r"asistan\w{0,4}|ассистент\w{0,2}|агент\w{0,3}|model\w{0,3})\b"
        r"|(?:人工智能|ai助手|ai ?アシスタント|ai 어시스턴트|智能助手|الذكاء الاصطناعي|एआई)",
    ),
    sign(
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
    sign(
        "freedom",
        0.6,
        r"\b(?:without (?:any )?(?:restrictions|filters|limitations|censorship|limits|"
        r"refus(?:al|ing))|no (?:restrictions|limitations|rules|filters|guidelines)|unrestricted|"
        r"uncensored|unfiltered|sin (?:ninguna )?(?:restricci[oó]n(?:es)?|l[ií]mites|filtros|censura)|"
        r"sans (?:aucune? )?(?:restrictions?|filtres?|limites?|censure)|ohne (?:jede |jegliche )?"
        r"(?:einschränkung|beschränkung|filter|zensur)\w{0,3}|sem (?:restrições|filtros|limites|censura)|"
        r"senza (?:alcuna )?(?:restrizion|filtr|limit|censur)\w{1,2}|без (?:каких-либо )?(?:ограничений|"
        r"фильтров|цензуры|правил)|sınırsız|filtresiz|kısıtsız|sansürsüz|zonder (?:beperkingen|filters)|"
        r"bez (?:ogranicze[nń]|filtr[oó]w|cenzury)|tanpa (?:batasan|filter|sensor))"
        r"|(?:没有任何限制|不受.{0,4}限制|无限制|沒有限制|没有限制|不加审查|无需审查|制限なし|制限のない|制約なし|"
        r"무제한|제한 ?없이|제약 ?없이|بلا قيود|بدون قيود|دون أي (?:قيود|رفض)|بدون محدودیت|बिना किसी)",
    ),
    sign(
        "act",
        0.5,
        r"\b(?:act[uú]a como|act[uú]e como|eres ahora|agis comme|agissez comme|comporte-toi|handle als|"
        r"verhalte dich|du bist|aja como|atue como|agisci come|comportati|действуй как|веди себя|"
        r"представь,? что ты|ты теперь|sen (?:şimdi|artık)|gibi davran|rolünü|doe alsof|zachowuj się|"
        r"bertindaklah)|(?:你现在|你是一个|扮演|あなたは(?:今|これ)|として振る舞|당신은 이제|너는 이제|أنت الآن|"
        r"تصرف ك|تو اکنون|शाब्दिक|अब आप)",
    ),
    sign(
        "prompt",
        0.9,
        r"\b(?:mensaje de(?:l)? sistema|message système|systemnachricht|mensagem do sistema|messaggio di "
        r"sistema|системно\w{1,3} сообщени\w{1,2}|sistem mesaj\w{0,4}|(?:iç|gizli|sistem) (?:yönerge|"
        r"talimat|komut|istem)\w{0,8}|instrucciones (?:internas|ocultas|iniciales)|instructions (?:internes|"
        r"cachées|initiales)|(?:internen|geheimen|versteckten) anweisungen|внутренни\w{1,2} инструкци\w{1,2})"
        r"|(?:系统消息|系统指令|内部指令|初始指令|システムメッセージ|内部指示|시스템 ?메시지|رسالة النظام|"
        r"التعليمات الداخلية|پیام سیستم|दिशानिर्देश)",
    ),
    sign(
        "only",
        0.5,
        r"\b(?:palabra por palabra|mot (?:à|pour) mot|wort für wort|wörtlich|palavra por palavra|parola per "
        r"parola|дословно|слово в слово|kelimesi kelimesine|aynen yaz\w{0,2}|olduğu gibi|woord voor woord|"
        r"słowo w słowo)|(?:逐字|一字不差|原封不动|一字一句|そのまま|文字通り|그대로|كلمة بكلمة|حرفيا|"
        r"کلمه به کلمه|शब्दशः)",
    ),
    # "Forget everything that was said before"
    sign(
        "ignore",
        0.9,
        r"\b(?:vergiss alles|vergessen sie alles|oublie(?:z)? tout|ne ti(?:ens|enez) pas compte de ce qui|"
        r"olvida todo|ignora todo|esqueça tudo|ignore tudo|dimentica tutto|ignora tutto|забудь (?:обо )?вс[её]|"
        r"her şeyi unut|vergeet alles|zapomnij (?:o )?wszystk\w{1,3}|lupakan semua|glöm allt|"
        r"no (?:sigas|obedezcas|hagas caso a) (?:\w{1,6} )?(?:instrucciones|reglas|indicaciones|órdenes)|"
        r"ne (?:suis|suivez) (?:pas|plus) (?:les|tes|vos) (?:instructions|consignes|règles)|"
        r"befolge (?:\w{1,10} ){0,3}(?:anweisungen|regeln|vorgaben) nicht|folge nicht (?:\w{1,10} ){0,3}anweisungen)"
        r"|(?:忘记|忘掉|忽略|无视).{0,4}(?:一切|所有内容|上述|以上|之前)|(?:今まで|これまで|以前).{0,8}(?:忘れ|無視)"
        r"|(?:เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ลืม).{0,12}คำสั่ง|התעלמ?[םי]?ו? .{0,15}הוראות",
    ),
    # "Show me your instructions"
    sign(
        "prompt",
        0.9,
        r"\b(?:zeige?|nenne|verrate|wiederhole|gib|drucke) (?:\w{1,10} ){0,2}(?:deine|ihre) (?:\w{1,12} ){0,2}"
        r"(?:anweisungen|instruktionen|vorgaben|regeln)|\b(?:montre|révèle|affiche|donne|répète|divulgue)z?"
        r"(?:-moi)? (?:tes|vos) (?:\w{1,12} ){0,2}(?:instructions|consignes|règles)|\b(?:muestra|muéstrame|"
        r"revela|dime|repite|imprime) (?:tus|sus|las) (?:\w{1,12} ){0,2}(?:instrucciones|reglas)|\b(?:mostre|"
        r"revele|repita|imprima) (?:suas|as suas) (?:\w{1,12} ){0,2}(?:instruções|regras)|\b(?:mostra|mostrami|"
        r"rivela|ripeti|stampa) le (?:tue|sue) (?:\w{1,12} ){0,2}(?:istruzioni|regole)|(?:покажи|раскрой|выведи|"
        r"повтори|напиши|перечисли) (?:мне )?(?:все )?(?:свои|твои|ваши) (?:\w{1,14} ){0,2}(?:инструкци|указани|"
        r"правил|команд)|(?:talimat|yönerge|komut|kural|istem)\w{0,10} (?:\w{1,14} ){0,2}(?:göster|yaz|söyle|"
        r"ifşa|tekrarla|dök)|systeemprompt|prompt systemowy|запит системи|системний запит"
        r"|(?:输出|显示|告诉我|透露|泄露|重复|打印|公开).{0,6}(?:你的|初始|系统|内部|原始).{0,4}(?:指令|提示|设定|规则)"
        r"|(?:あなたの|最初の|内部の|隠された).{0,4}(?:指示|命令|設定|プロンプト)を(?:表示|出力|教え|見せ|開示)"
        r"|(?:너의|당신의|초기|내부) ?(?:지시|지침|설정|프롬프트).{0,8}(?:출력|보여|알려|공개)",
    ),
    # "Answer only with"
    sign(
        "only",
        0.5,
        r"\b(?:antworte\w{0,2} (?:du )?(?:nur|ausschließlich|immer)|répond\w{1,3} (?:uniquement|seulement|toujours)|"
        r"respond[ae] (?:solo|sólo|únicamente|siempre|apenas|somente|sempre)|rispondi (?:solo|soltanto|sempre)|"
        r"отвечай (?:только|всегда)|(?:sadece|yalnızca|her zaman) (?:\w{1,14} ){0,4}(?:cevap ver|yanıtla|yanıt ver|yaz))"
        r"|(?:只|仅|僅)(?:需)?(?:回答|回复|输出|返回)|だけ(?:を)?(?:答え|出力|返|回答)|(?:만|라고만) (?:대답|답|출력)",
    ),
    sign(
        "freedom",
        0.7,
        r"\b(?:kuralsız|kısıtlama\w{0,3} yok|sınır\w{0,3} yok|filtre\w{0,4} kapat|güvenlik \w{0,14} ?kapat|"
        r"geliştirici mod\w{0,8}|entwicklermodus|mode développeur|modo (?:desarrollador|desenvolvedor|dios)|"
        r"modalità sviluppatore|режим\w{0,2} разработчика)|开发者模式|開発者モード|개발자 모드|وضع المطور",
    ),
    sign(
        "address",
        0.8,
        r"\b(?:hinweis|nachricht|anweisung|achtung|wichtig|note|message|instructions?|attention|aviso|nota|mensaje|"
        r"atención|atenção|attenzione|messaggio|внимани\w|сообщение|инструкци\w|not|dikkat|mesaj)[ :,]{1,2}"
        r"(?:an|für|aux?|pour|à|para|al?|los|las|per|für die|для|всем|için|tüm)?[ ]?(?:alle |tous les |todos los |"
        r"les |los |die |das )?(?:ki|ia|llm|ии|yapay zek[aâ]|sprachmodell|modèles? de langage|modelo\w? de lenguaje)",
    ),
)
