"""Redaction behind French and Spanish labels: no miss and no false alarm.

Every secret here is made up. `↵` stands for a line break.
"""

from __future__ import annotations

import pytest

from preflights_es.redaction.masking import redact
from tests.each import each
from tests.redaction.test_redaction import pairs

FRENCH = r"""
mot de passe provisoire Tournesol42 à changer
    mot de passe provisoire [redacted:password] à changer
mot de passe admin Tournesol42
    mot de passe admin [redacted:password]
Mot de passe : hunter2
    Mot de passe : [redacted:password]
mot de passe: hunter2
    mot de passe: [redacted:password]
Mot de passe : tournesol
    Mot de passe : [redacted:password]
mot de passe = tournesol
    mot de passe = [redacted:password]
Le mot de passe est hunter2
    Le mot de passe est [redacted:password]
Le mot de passe est « tournesol »
    Le mot de passe est « [redacted:password] »
Mot de passe : « tournesol bleu »
    Mot de passe : « [redacted:password] »
le mot de passe est "correct cheval"
    le mot de passe est "[redacted:password]"
MOT DE PASSE : HUNTER2
    MOT DE PASSE : [redacted:password]
MOT_DE_PASSE=tournesol
    MOT_DE_PASSE=[redacted:password]
mot-de-passe: hunter2
    mot-de-passe: [redacted:password]
mdp: hunter2
    mdp: [redacted:password]
mdp : hunter2
    mdp : [redacted:password]
mon mdp est hunter2
    mon mdp est [redacted:password]
MDP=tournesol
    MDP=[redacted:password]
Utilisateur admin, mot de passe Adm1n!23
    Utilisateur admin, mot de passe [redacted:password]
Le mot de passe de la base est S3cret99
    Le mot de passe de la base est [redacted:password]
Le mot de passe pour l'admin est S3cret99.
    Le mot de passe pour l'admin est [redacted:password].
Utilise hunter2 comme mot de passe
    Utilise [redacted:password] comme mot de passe
hunter2 est le mot de passe
    [redacted:password] est le mot de passe
mot de passe (préprod) : S3cret99
    mot de passe (préprod) : [redacted:password]
Identifiants : admin / S3cret99
    Identifiants : admin / [redacted:password]
phrase de passe : cheval batterie agrafe tournesol
    phrase de passe : [redacted:password]
Clé API : abc123def456
    Clé API : [redacted:key]
clé d'API: abc123def456
    clé d'API: [redacted:key]
La clé d'API est abc123def456
    La clé d'API est [redacted:key]
cle_api=abc123def456
    cle_api=[redacted:key]
clé secrète : abc123def456
    clé secrète : [redacted:key]
La clé privée est abc123def456.
    La clé privée est [redacted:key].
Jeton : a1b2c3d4e5f6
    Jeton : [redacted:token]
jeton d'accès : a1b2c3d4e5f6
    jeton d'accès : [redacted:token]
Le jeton est a1b2c3d4e5f6
    Le jeton est [redacted:token]
JETON=a1b2c3d4e5f6
    JETON=[redacted:token]
Le token est a1b2c3d4e5f6
    Le token est [redacted:token]
Le secret est abc123def
    Le secret est [redacted:key]
Secret : 9f8e7d6c5b4a
    Secret : [redacted:key]
mot de passe administrateur : hunter2
    mot de passe administrateur : [redacted:password]
mot de passe root: hunter2
    mot de passe root: [redacted:password]
Mot de passe wifi : tournesol
    Mot de passe wifi : [redacted:password]
mot de passe admin prod : tournesol
    mot de passe admin prod : [redacted:password]
mot de passe par défaut : tournesol
    mot de passe par défaut : [redacted:password]
Le mot de passe admin est tournesol.
    Le mot de passe admin est [redacted:password].
clé wifi : tournesol
    clé wifi : [redacted:password]
le mdp c'est Tournesol7
    le mdp c'est [redacted:password]
le mdp, c'est tournesol
    le mdp, c'est [redacted:password]
Le mot de passe du serveur c'est Tournesol
    Le mot de passe du serveur c'est [redacted:password]
Le mot de passe est Tournesol.
    Le mot de passe est [redacted:password].
le mot de passe est tournesol
    le mot de passe est [redacted:password]
le password est tournesol
    le password est [redacted:password]
Votre mot de passe sera Tournesol
    Votre mot de passe sera [redacted:password]
votre mot de passe sera Tournesol7, pensez à le changer
    votre mot de passe sera [redacted:password], pensez à le changer
le mot de passe devient tournesol
    le mot de passe devient [redacted:password]
code secret : 4821
    code secret : [redacted:password]
Le code secret est 4821.
    Le code secret est [redacted:password].
code d'accès : 482193
    code d'accès : [redacted:password]
Digicode : 4821
    Digicode : [redacted:password]
code PIN : 4821
    code PIN : [redacted:password]
Connexion : admin / Colibri22
    Connexion : admin / [redacted:password]
phrase secrète : « roitelet bleu matin »
    phrase secrète : « [redacted:password] »
"""
NOT_FRENCH = r"""
mot de passe provisoire à changer
mot de passe provisoire obligatoire
mot de passe temporaire sha256
mot de passe admin 12 caractères minimum
Mot de passe oublié ?
mot de passe
mot de passe : obligatoire
Mot de passe : requis
Mot de passe : 12 caractères minimum
mot de passe : au moins 12 caractères
Le mot de passe est obligatoire
Le mot de passe est obligatoire !
Le mot de passe est trop court
Le mot de passe est haché avec bcrypt
Le mot de passe est haché en SHA-256
Le mot de passe est chiffré
Le mot de passe est stocké dans le coffre
Le mot de passe est un secret
Le mot de passe est de 12 caractères
Le mot de passe doit contenir 12 caractères
Réinitialiser le mot de passe par e-mail
mot de passe ou SSO
E-mail/mot de passe, OAuth2 ou SSO ?
mot de passe : voir le coffre
mot de passe : généré
mot de passe : aucun
Mot de passe : ${MOT_DE_PASSE}
Mot de passe : ********
MOT_DE_PASSE=$SECRET
<mot de passe>
mdp oublié
mdp : voir 1Password
mdp = null
Identifiants : voir le wiki
clé d'API
clé API : obligatoire
La clé d'API est obligatoire
La clé d'API est stockée dans Vault
La clé est la référence du client
clé primaire : id
clé étrangère : user_id
clé de cache : user:123:profile
Clé publique
Le jeton est opaque
jeton : JWT
Le jeton expire après 24h
jeton d'accès : 15min
rotation des jetons
Le secret est bien gardé
un article, un cercle, un bicycle
clear: yes, cleaner: v2
nettoyer les clés : redis
passe-partout
Le mot de passe est différent
mot de passe administrateur : obligatoire
mot de passe utilisateur : haché
mot de passe utilisateur : bcrypt
mot de passe admin : voir le coffre
mot de passe : nul
mot de passe : nulle
mot de passe : absent
mot de passe : manquant
mot de passe réinitialisé : lien
le mdp c'est compliqué
le mdp c'est relou
le mdp, c'est important
le mot de passe, c'est la base
le mot de passe c'est pour plus tard
le mot de passe est bon
le mot de passe est correct
Le mot de passe est trop facile à deviner
Le mot de passe est beaucoup trop simple pour nous
le mot de passe est robuste et unique
le password est obligatoire
le password est compliqué
votre mot de passe sera réinitialisé
votre mot de passe sera transmis
le mot de passe sera obligatoire
le mot de passe sera envoyé par e-mail
code secret : obligatoire
code secret : 4 chiffres
code d'accès : 403
code postal : 75011
code retour : 4821
code : 4821
clé wifi : obligatoire
Le code d'accès est valable 5 minutes
mot de passe administrateur : à définir
connexion : HTTP / OAuth2
"""
SPANISH = r"""
Contraseña: hunter2
    Contraseña: [redacted:password]
contrasena: hunter2
    contrasena: [redacted:password]
Contraseña: girasol
    Contraseña: [redacted:password]
contraseña = girasol
    contraseña = [redacted:password]
contraseña=girasol
    contraseña=[redacted:password]
CONTRASEÑA=girasol
    CONTRASEÑA=[redacted:password]
CONTRASENA: HUNTER2
    CONTRASENA: [redacted:password]
La contraseña es hunter2
    La contraseña es [redacted:password]
La contraseña es "girasol"
    La contraseña es "[redacted:password]"
la contraseña era hunter2
    la contraseña era [redacted:password]
Mi contraseña es hunter2, no la digas
    Mi contraseña es [redacted:password], no la digas
La contraseña de la base es S3creto99
    La contraseña de la base es [redacted:password]
La contraseña para el admin es S3creto99.
    La contraseña para el admin es [redacted:password].
Usuario admin, contraseña Adm1n!23
    Usuario admin, contraseña [redacted:password]
Usa hunter2 como contraseña
    Usa [redacted:password] como contraseña
hunter2 es la contraseña
    [redacted:password] es la contraseña
contraseña (pruebas): S3creto99
    contraseña (pruebas): [redacted:password]
contraseñas: hunter2, girasol9
    contraseñas: [redacted:password], [redacted:password]
cambia la contraseña de hunter2 a hunter3x
    cambia la contraseña de [redacted:password] a [redacted:password]
clave de acceso: hunter2
    clave de acceso: [redacted:password]
Credenciales: admin / S3creto99
    Credenciales: admin / [redacted:password]
Clave API: abc123def456
    Clave API: [redacted:key]
clave de API: abc123def456
    clave de API: [redacted:key]
clave de la API: abc123def456
    clave de la API: [redacted:key]
La clave de API es abc123def456
    La clave de API es [redacted:key]
CLAVE_API=abc123def456
    CLAVE_API=[redacted:key]
clave_de_api = "abc123def456"
    clave_de_api = "[redacted:key]"
La clave secreta es abc123def456
    La clave secreta es [redacted:key]
clave privada: abc123def456
    clave privada: [redacted:key]
Clave: 9f86d081884c7d659a2feaa0c55ad015
    Clave: [redacted:key]
Token: a1b2c3d4e5f6
    Token: [redacted:token]
El token es a1b2c3d4e5f6
    El token es [redacted:token]
token de acceso: a1b2c3d4e5f6
    token de acceso: [redacted:token]
El token de acceso es a1b2c3d4e5f6
    El token de acceso es [redacted:token]
Secreto: 9f8e7d6c5b4a
    Secreto: [redacted:key]
El secreto es abc123def
    El secreto es [redacted:key]
contraseña administrador: girasol
    contraseña administrador: [redacted:password]
contraseña wifi: girasol
    contraseña wifi: [redacted:password]
Contraseña root mysql: girasol
    Contraseña root mysql: [redacted:password]
clave del wifi: girasol
    clave del wifi: [redacted:password]
la contraseña es Girasol
    la contraseña es [redacted:password]
La contraseña es girasol.
    La contraseña es [redacted:password].
la contraseña es Mariposa
    la contraseña es [redacted:password]
la contraseña de la base es Girasol
    la contraseña de la base es [redacted:password]
tu contraseña será Girasol7
    tu contraseña será [redacted:password]
la contraseña sigue siendo girasol
    la contraseña sigue siendo [redacted:password]
la contraseña va a ser Girasol
    la contraseña va a ser [redacted:password]
código secreto: 4821
    código secreto: [redacted:password]
El código de acceso es 482193
    El código de acceso es [redacted:password]
NIP: 4821
    NIP: [redacted:password]
Usuario: kai, clave: Colibri22
    Usuario: kai, clave: [redacted:key]
Contraseña del administrador: reyezuelo
    Contraseña del administrador: [redacted:password]
La contraseña nueva es reyezuelo
    La contraseña nueva es [redacted:password]
"""
NOT_SPANISH = r"""
¿Contraseña olvidada?
contraseña
contraseña: obligatoria
Contraseña: requerida
Contraseña: mínimo 12 caracteres
contraseña: 12 caracteres como mínimo
La contraseña es obligatoria
¡La contraseña es obligatoria!
La contraseña es demasiado corta
La contraseña es un secreto
La contraseña es de 12 caracteres
La contraseña está cifrada con bcrypt
La contraseña se guarda como SHA-256
La contraseña debe tener 12 caracteres
Restablecer la contraseña por correo
contraseña u OAuth2
Correo/contraseña, OAuth2 o SSO
contraseña: ver el wiki
contraseña: generada
contraseña: ninguna
contraseña: pendiente
Contraseña: ${CONTRASENA}
Contraseña: ********
CONTRASENA=$SECRETO
<contraseña>
Credenciales: ver el wiki
clave de API
clave API: obligatoria
La clave de API es obligatoria
clave primaria: id
clave foránea: user_id
palabra clave: valor
La clave es el número del cliente
clave: valor
punto clave 3
clave de caché: user:123:profile
El token es opaco
token de acceso: 15min
El token caduca en 24h
rotación de tokens
El secreto es conocido
secreto: en Vault
secretos de Kubernetes
secretaria: Ana
La clave está en la bóveda
es la clave de todo
enclave: norte
llave: valor
La llave es única
Contraseña diferente
contraseña: nula
contraseña: nulo
contraseña: ausente
contraseña: indefinida
contraseña de usuario: obligatoria
contraseña usuario: cifrada
la contraseña es correcta
la contraseña es débil
la contraseña es necesaria
la contraseña es fundamental
la contraseña es la misma
la contraseña es Obligatoria
La Contraseña Es Obligatoria
la contraseña es privada
la contraseña es compleja y larga
la contraseña es demasiado fácil para todos
tu contraseña será restablecida
la contraseña será enviada por correo
la contraseña será obligatoria
código secreto: obligatorio
código de error: 4821
código postal: 28013
clave del wifi: obligatoria
clave: valor, otra: valor
la clave es única
La contraseña es sensible a mayúsculas
La contraseña es robusta
La contraseña es vulnerable
acceso: admin / lectura
"""


TYPOGRAPHIC = [
    ("Clé d\u2019API\u00a0: abc123def456", "Clé d\u2019API\u00a0: [redacted:key]"),
    ("Mot de passe\u202f: hunter2", "Mot de passe\u202f: [redacted:password]"),
    ("mdp : «\u00a0tournesol\u00a0»", "mdp : «\u00a0[redacted:password]\u00a0»"),
]


# What the review of other languages found in English and German.
LIKEWISE = r"""
Passwort Admin: geheim123
    Passwort Admin: [redacted:password]
password admin: hunter22
    password admin: [redacted:password]
the vpn password remains sunflower
    the vpn password remains [redacted:password]
Your password will be Sunflower
    Your password will be [redacted:password]
the password will be sunflower7
    the password will be [redacted:password]
Secret code: 4821
    Secret code: [redacted:password]
door code is 4821
    door code is [redacted:password]
PIN code: 4821
    PIN code: [redacted:password]
Geheimzahl: 4821
    Geheimzahl: [redacted:password]
Der Zugangscode ist 482193
    Der Zugangscode ist [redacted:password]
PIN-Code: 4821
    PIN-Code: [redacted:password]
the admin password there will be Kolibri!22
    the admin password there will be [redacted:password]
Passwort fürs WLAN: kolibri
    Passwort fürs WLAN: [redacted:password]
Der Türcode ist 482193
    Der Türcode ist [redacted:password]
WLAN-Schlüssel: Zaunkoenig9
    WLAN-Schlüssel: [redacted:password]
"""
NOT_LIKEWISE = r"""
password admin: required
password user: bob or alice
Passwort Admin: siehe Wiki
Passwort: fehlt
Passwort: undefiniert
password database: postgres
Your password will be sent by mail
the password will be reset
the password remains active
the password stays valid
the password will be hashed
The password will be hidden
Geheimzahl: 4 Ziffern
error code: 4821
exit code 4821
secret code: see below
access code: 4 digits
status code: 4031
source code: 4821 lines
The password will be entered twice
The access code path is covered by 4821 tests
security code: CVC with 3 digits
promo code: 4821
Der Fehlercode ist 4821
WLAN-Schlüssel: siehe Router
"""


@each(("text", "recorded"), [*pairs(FRENCH, SPANISH, LIKEWISE), *TYPOGRAPHIC])
def test_a_secret_behind_a_french_or_spanish_label_goes(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@each("text", f"{NOT_FRENCH}{NOT_SPANISH}{NOT_LIKEWISE}".split("\n"))
def test_a_french_or_spanish_sentence_without_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(("guilty", "innocent"), [(FRENCH, NOT_FRENCH), (SPANISH, NOT_SPANISH)])
def test_each_language_has_as_many_innocents_as_positives(guilty: str, innocent: str) -> None:
    assert len(pairs(guilty)) >= 25
    assert len(innocent.strip().splitlines()) >= len(pairs(guilty))


@pytest.mark.parametrize(
    "unit",
    [
        "mot de ",
        "mot de passe de ",
        "contraseña es ",
        "clé d'",
        "mdp : ",
        "clave ",
        "a est ",
        "mdp admin ",
        "mdp, c'est ",
        "code d'",
    ],
)
def test_a_long_text_of_labels_without_values_stays(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    assert redact(text) == (text, ())
