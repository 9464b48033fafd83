"""Redaction behind French and Spanish labels: no miss and no false alarm.

Every secret here is made up. `↵` stands for a line break.
"""

from __future__ import annotations

import pytest

from preflights_es.redaction import redact
from tests.redaction.test_redaction import pairs

FRENCH = r"""
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
"""
NOT_FRENCH = r"""
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
"""


TYPOGRAPHIC = [
    ("Clé d\u2019API\u00a0: abc123def456", "Clé d\u2019API\u00a0: [redacted:key]"),
    ("Mot de passe\u202f: hunter2", "Mot de passe\u202f: [redacted:password]"),
    ("mdp : «\u00a0tournesol\u00a0»", "mdp : «\u00a0[redacted:password]\u00a0»"),
]


@pytest.mark.parametrize(("text", "recorded"), [*pairs(FRENCH, SPANISH), *TYPOGRAPHIC])
def test_a_secret_behind_a_french_or_spanish_label_goes(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@pytest.mark.parametrize("text", f"{NOT_FRENCH}{NOT_SPANISH}".strip("\n").split("\n"))
def test_a_french_or_spanish_sentence_without_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(("guilty", "innocent"), [(FRENCH, NOT_FRENCH), (SPANISH, NOT_SPANISH)])
def test_each_language_has_as_many_innocents_as_positives(guilty: str, innocent: str) -> None:
    assert len(pairs(guilty)) >= 25
    assert len(innocent.strip().splitlines()) >= len(pairs(guilty))


@pytest.mark.parametrize(
    "unit",
    ["mot de ", "mot de passe de ", "contraseña es ", "clé d'", "mdp : ", "clave ", "a est "],
)
def test_a_long_text_of_labels_without_values_stays(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert redact(text) == (text, ())
