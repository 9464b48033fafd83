"""The words that stand where a secret could stand, one table for each use."""

from __future__ import annotations

from typing import Final

from preflights_es.redaction.patterns import compiled, words


def is_technical(word: str) -> bool:
    return compiled(_TECHNICAL).fullmatch(word) is not None


def is_said(word: str) -> bool:
    return is_adjective(word) or word in words(_SAID_OF_IT)


def is_adjective(word: str) -> bool:
    return compiled(_ADJECTIVE).search(word) is not None


def is_said_in_romance(word: str, *, named: bool) -> bool:
    """In French or Spanish: adjectives, participles and infinitives; fewer for a proper name."""
    ending = compiled(_ROMANCE_PARTICIPLE if named else _ROMANCE_ADJECTIVE).search(word)
    return ending is not None or word in words(_SAID_IN_ROMANCE)


# Terms with digits or of cryptography; numbers with a unit, versions, ordinals, limits.
_TECHNICAL: Final = (
    r"argon2?(?:id|i|d)?|[by]crypt\d*|scrypt\d*|pbkdf2\w*|sha-?\d{1,3}(?:-\d{3})?\w{0,4}|md[45]|"
    r"blake[23]\w?|hmac\w*|(?:rs|hs|es|ps|p)(?:256|384|512|521)|aes-?\d*(?:-?[a-z]{3})?|rsa-?\d*|"
    r"ed25519|x25519|curve25519|secp\d+\w\d|x\.?509(?:v3)?|pkcs#?\d*|p12|utf-?\d+|u2f|fido2?|"
    r"base-?(?:16|32|36|58|62|64)\w*|aws4|[23]fa|[tmh]?otp|mfa|oauth-?[12]?(?:\.\d)?\w*|auth0|saml2?|"
    r"oidc|web[23]|k8s|s3|ec2|r2|d1|h2|http[23s]?|tls(?:v?1(?:\.\d)?)?|ssl\w*|ipv[46]|i18n|l10n|"
    r"a11y|b2[bc]|v\d+(?:\.\d+)*\w{0,6}|uuid(?:v?\d)?|ulid|cuid2?|nanoid|py(?:thon)?[23]|php\d|"
    r"vue[23]|es\d+|win\d+|1password\w*|keepass\w*|lastpass|bitwarden|zxcvbn\d*|h?ibp|pwned\w*|"
    r"postgres(?:ql)?\d+|mysql\d|neo4j|log4j|gpt-?\d\w*|llama-?\d*|iso\d+|rfc-?\d+|nist\d*|owasp\d*|"
    r"cve\d*|q[1-4]|\d+(?:\.\d+)?-?(?:st|nd|rd|th|x|px|r?em|k|[kmg]i?b|ms|s|secs?|seconds?|m|mins?|"
    r"minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|months?|y|years?|bits?|bytes?|b|chars?|characters?|"
    r"zeichen|stellig\w*|digits?|letters?|symbols?|words?|tagen?|stunden?|minuten?|sekunden?|"
    r"wochen?|monaten?|jahren?|factor|faktor|step|tier|way|times?)|\d{1,4}-[a-z]+|"
    r"(?:min|max|len|length|size|ttl|exp|rounds?|cost|iterations?|bits?|level|stufe|step|phase|"
    r"version|issue|ticket|pr|adr|minlength|maxlength)[-_:=<>≥≤#. (]*\d[\d.,)]*"
)
# Words that a specification, a message or a program puts where a secret could stand.
VOCABULARY: Final = """
    required mandatory optional needed necessary none null nil true false undefined nothing empty
    blank missing unset yes no not never always only must should shall can may will would could tbd
    string str text varchar char bytes byte bool boolean int integer number object array any todo
    unknown secretstr buffer datetime date timestamp email mail e-mail username user users name
    password passwort pass passwd pwd passphrase kennwort passcode pin token tokens key keys jwt
    bearer cookie cookies session sessions header headers credential credentials creds login logout
    signin signup masked hidden redacted encrypted decrypted hash hashed hashes hashing salt salted
    pepper peppered plain plaintext cleartext unencrypted vault env environment keychain keyring
    config configuration settings bcrypt scrypt argon oauth oidc saml sso mfa totp otp webauthn
    passkey passkeys secretbytes ldap kerberos basic digest opaque csrf xsrf refresh access auth
    authentication authorization authenticated scheme realm form field fields input inputs output
    label placeholder value values default defaults random randomly generated auto automatic
    automatically manual manually prompt prompted reset resets change changes changed rotate
    rotation policy policies rule rules strength check checks validation validate length size format
    type minimum maximum min max least most more less than longer shorter exactly between about over
    under up at the a an see use uses using used set sets stored store stores storage sent send kept
    keep in via from by for per with without and or but if when while until unless because is are
    was be been being has have had do does to of on off this that these those it its they their
    there here same new old current previous some all each every both other another our your
    admin-only readonly read write read-only disabled enabled deprecated supported unsupported
    unchanged unaffected different flag flags option options argument arguments param parameter
    parameters reuse management manager handling support logic flow feature service server client
    backend frontend database table column recovery forgot forgotten hints hint strong weak secure
    insecure valid invalid wrong incorrect characters character chars digits letters symbols
    uppercase lowercase mixed-case case-sensitive alphanumeric numeric ascii unicode bits protected
    based pflicht pflichtfeld erforderlich benötigt notwendig zwingend nötig leer kein keine keins
    nichts ja nein nie niemals nicht immer nur wird werden muss müssen soll sollen darf dürfen kann
    können mindestens maximal höchstens mehr weniger als zeichen ziffern buchstaben zeichenkette
    feld siehe wie mit ohne und oder aber wenn bei für von vom zum zur im am auf aus der die das den
    dem ein eine einen einem verschlüsselt gehasht gespeichert unverschlüsselt klartext zufällig
    zufälliger generiert automatisch manuell wert werte standard voreinstellung benutzer nutzer
    benutzername anmeldung eingabe eingeben ändern zurücksetzen vergessen richtlinie regeln länge
    ungültig gültig falsch richtig abgelaufen unverändert entfällt how what why which who where
    later soon maybe either neither ditto pending unclear legacy classic traditional fallback custom
    builtin built-in primary secondary backup per-user dito offen unklar später folgt egal intern
    extern lokal klassisch keycloak cognito firebase okta supabase clerk authelia authentik zitadel
    kratos devise passport django laravel google github gitlab microsoft entra apple facebook
    biometric biometrics yubikey magic sms link production prod staging
    obligatoire facultatif facultative optionnel requis requise exigé aucun aucune vide néant oui
    non jamais toujours seulement doit doivent peut peuvent sera voir selon avec sans pour dans
    chaque caractères caractère chiffres chiffre lettres lettre minimum maximum moins plus entre
    chiffré chiffrée chiffrer haché hachée hachage salé stocké stockée masqué masquée oublié
    oubliée perdu perdue changer modifier modifié modifiée réinitialiser réinitialisé
    réinitialisation expiré expirée invalide valide incorrect incorrecte faux faible fort forte sûr
    court courte long longue aléatoire généré générée temporaire défaut champ valeur texte chaîne
    utilisateur utilisateurs courriel connexion coffre coffre-fort environnement fichier variable
    inconnu inconnue identique obligatorio obligatoria opcional requerido requerida ninguno ninguna
    vacío vacía nada nunca siempre solo sólo debe deben puede pueden será según para cada
    caracteres carácter dígitos dígito letras letra mínimo mínima máximo cifrado cifrada cifrar
    hasheado hasheada guardado guardada oculto oculta olvidado olvidada olvidé perdido perdida
    cambiar cambiada restablecer restablecida caducado caducada inválido inválida válido válida
    incorrecto incorrecta falso débil fuerte seguro segura corto corta largo larga aleatorio
    aleatoria generado generada temporal defecto campo valor texto cadena usuario usuarios correo
    sesión bóveda entorno archivo desconocido desconocida pendiente igual misma mismo même
    nul nuls nulle nulles nulo nula nulos nulas absent absente manquant manquante indéfini indéfinie
    ausente faltante falta indefinido indefinida inexistente inexistant inexistante vierge fehlt
    fehlend fehlende undefiniert undefined ungesetzt unset gesperrt
    confirmación confirmation est était sont une des les leur leurs notre votre mon nous vous par
    sur aux que qui una uno los las del con sin por como está están son nuestra nuestro su sus
"""
# The same where no program can name a variable: an environment file, a query, an element.
NOTHING: Final = """
    required mandatory optional none null nil true false undefined empty blank unset yes no string
    str text boolean integer number hidden masked redacted encrypted env environment vault prompt
    stdin keychain keyring default auto random generated flag flags option options argument value
    and or is in for from to via with must if parameter reset
"""
# What is said of a password: "the password is short".
_SAID_OF_IT: Final = """
    secret secrets geheim geheimnis short long safe unsafe strong weak good bad better best worse
    worst fine ok okay right correct public private personal shared unique common simple complex
    complicated easy hard important sensitive confidential temporary permanent static dynamic
    visible invisible mutable immutable stale fresh gone lost known identical similar equal ready
    enough also just too very still already now then so such really quite rather again often
    sufficient insufficient readable raw fix broken dead hot cold unclear clear obvious trivial
    internal external local global mine yours ours theirs given made taken chosen shown written
    stolen found seen left built typed kurz lang sicher unsicher schwach stark gut schlecht bekannt
    unbekannt wichtig gleich anders einfach schwierig komplex offen weg neu alt da hier dort zu sehr
    schon noch wieder teil voraussetzung sache aufgabe problem thema veraltet eindeutig einmalig
    vertraulich öffentlich privat persönlich temporär verloren kaputt overwritten held bound
    withdrawn rebuilt there here active intact constant back provided plaintext obvious
"""
_ADJECTIVE: Final = (
    r"(?:[^aeiou]ed|[ai]ble|[st]ory|[st]ive|ous|less|[iy]zed|pflichtig|lich|bar|isch|haft|los|"
    r"iert|pflichtend|reichend)$|^pflicht|^(?:ge|ver|be|er|zer|ent)\w{3,}t$"
    r"|^(?:un|in|non|multi|auto|self|user|server|client|case|time)-?\w*(?:ed|ive|able|t)$"
)
_ROMANCE_ADJECTIVE: Final = (
    r"(?:ée?s?|oires?|iques?|[aieu]bles?|eu(?:x|ses?)|i(?:fs?|ves?)|[ae]nte?s?|iell?e?s?|[ai]d[ao]s?"
    r"|[aot]ri[ao]s?|aires?|os[ao]s?|iv[ao]s?|ale?s?|[ci]t[ao]s?|ic[ao]s?|[aeií]r|ment[eo]?)$"
    r"|^(?:in|im|non|auto|des|sin)-?\w{6,}$"
)
# The same, of those only that a proper name seldom has: "la contraseña es Mariposa".
_ROMANCE_PARTICIPLE: Final = (
    r"(?:ée?s?|oires?|ori[ao]s?|[aieu]bles?|[ai]d[ao]s?|[ae]ntes?|i(?:f|ve)s?|iv[ao]s?"
    r"|[ae]ri[ao]s?)$"
)
# What is said of a password in French and Spanish, besides adjectives of a known ending.
_SAID_IN_ROMANCE: Final = """
    bien bonne mauvais mauvaise vrai vraie clair claire simple complexe difficile facile fragile
    utile inutile unique secrète privé public publique nouveau nouvelle neuf vieux ancien ancienne
    meilleur meilleure pire prêt prête partout ailleurs dessous dessus ci-dessous ci-dessus ci-joint
    suivant pareil bidon pourri pourrie solide robuste propre vide libre autre autres tout rien cela
    celui celle ceci déjà encore mort cassé hors relou galère lourd lourde naze fini moche bizarre
    moi toi lui elle quoi ouvert ouverte sûre trop très assez commun commune requis remis remise
    transmis transmise défini définie fourni fournie connu connue perdu détruit détruite écrit
    écrite inscrit inscrite choisi choisie saisi saisie rempli remplie établi établie produit lu
    reçu reçue obtenu obtenue maintenu maintenue prévu prévue vérifié public toute minimal maximal
    strict stricte correct exact exacte juste lisible invisible illisible sensible évident évidente
    bueno buena malo mala nuevo nueva viejo vieja antiguo antigua fácil difícil única único única
    secreta pública público distinta distinto clave mía mío tuya tuyo suya suyo nuestra vuestra ésta
    esta este esto esa eso aquella cualquiera inútil mejor peor común tal así aquí ahí allí abajo
    arriba requisito todo toda otra otro hecho hecha puesto puesta escrito escrita visto vista dicho
    dicha roto rota abierto abierta cubierto cubierta resuelto resuelta impuesto impuesta vigente
    compleja complejo sencilla sencillo simple exacta exacto estricta estricto clara claro legible
    correcta conocida propia propio larguísima idéntica idéntico idénticas básica básico crítica
    crítico estática estático dinámica dinámico automática automático pésima pésimo mínimo máximo
    vieja libre perfecta perfecto cierta cierto completa completo concreta concreto directa
    normal obsoleta obsoleto limpia limpio lista listo rara raro mixta mixto breve grave leve suave
    robusta robusto sólida sólido
    opaca opaco eficaz útil ajena ajeno doble triple moderna moderno absurda absurdo ridícula enorme
    pequeña grande gratis rápida lenta alta baja media parte cosa problema tema dato número palabra
    frase nombre costaud bof débile absurde ridicule énorme petit petite grand haut haute basse
    rapide lent lente partie problème sujet nombre phrase opaque moderne gratuit gratuite joli
    double adéquat adéquate cohérent inchangé pénible gênant lettre chiffre
"""
VARIABLES: Final = """
    raw pw plain data form body payload request req response res params args arg kwargs self this
    result digest input value val await new getpass event item row obj person account model other
"""
LABEL_WORDS: Final = """
    password passwd pwd pw pass passwort kennwort passphrase passcode secret token key pin
"""
# A passphrase has no such words; a message, a rule or a caption has them.
IN_SENTENCES: Final = """
    please enter type choose confirm repeat again too short long weak strong cannot can't don't
    doesn't didn't match matches field you we he she must i'm secret secrets passwords bitte
    wiederholen ihr dein deine ihre passwörter stimmt überein stimmen
"""
