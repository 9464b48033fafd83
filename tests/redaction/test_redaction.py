"""Redaction: the corpus that holds it to no miss and no false alarm, and the laws it keeps.

Every secret here is made up. What has a vendor's shape is put together at run time, so that no
scanner of secrets stops this file. `↵` stands for a line break.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preflights_es.redaction.masking import redact
from preflights_es.redaction.patterns import KINDS
from tests.each import each

MIX = "a1B2" * 12  # 48 characters
HEX = "0a1b2c3d" * 8  # 64 characters
GITHUB = "ghp_" + "a1" * 18
AWS = "AKIA" + "IOSFODNN7" + "EXAMPLE"
AWS_SECRET = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
OPENAI = "sk-" + "proj-" + MIX
STRIPE = "sk_" + "live_" + MIX[:24]
JWT = ".".join(("eyJhbGciOi" + "JIUzI1NiJ9", "eyJzdWIi" + "OiIxMjMifQ", MIX))
HEADER, FOOTER = "-----BEGIN {}PRIVATE" + " KEY-----", "-----END {}PRIVATE" + " KEY-----"
PEM = f"{HEADER.format('RSA ')}\nMII{MIX}\n{MIX}==\n{FOOTER.format('RSA ')}"

# 1. What must go: the text, and below it what may be recorded

SETTINGS = r"""
password: hunter2
    password: [redacted:password]
PASSWORD is hunter2
    PASSWORD is [redacted:password]
passwd: hunter2
    passwd: [redacted:password]
api_key = "abcd1234efgh5678"
    api_key = "[redacted:key]"
token: abc123…
    token: [redacted:token]…
client_secret=9f8e7d6c5b4a
    client_secret=[redacted:key]
DB_PASSWORD=swordfish
    DB_PASSWORD=[redacted:password]
password=hunter2
    password=[redacted:password]
pwd=hunter2
    pwd=[redacted:password]
API_KEY=abc123def456
    API_KEY=[redacted:key]
client_secret=9f8e7d6c5b4a
    client_secret=[redacted:key]
{"user": "bob", "password": "letmein", "remember": true}
    {"user": "bob", "password": "[redacted:password]", "remember": true}
**Password:** hunter2
    **Password:** [redacted:password]
password = 'letmein'
    password = '[redacted:password]'
JWT_SECRET=supersecretvalue
    JWT_SECRET=[redacted:key]
AccountKey=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==;EndpointSuffix=core.windows.net
    AccountKey=[redacted:key];EndpointSuffix=core.windows.net
${DB_PASSWORD:-hunter2}
    ${DB_PASSWORD:-[redacted:password]}
setPassword("swordfish")
    setPassword("[redacted:password]")
Password:↵hunter2
    Password:↵[redacted:password]
PIN: 4711
    PIN: [redacted:password]
root:hunter2@tcp(127.0.0.1:3306)/shop
    root:[redacted:password]@tcp(127.0.0.1:3306)/shop
user=admin password=swordfish host=db
    user=admin password=[redacted:password] host=db
POSTGRES_PASSWORD=mysecretpassword
    POSTGRES_PASSWORD=[redacted:password]
{\"password\":\"hunter2\"}
    {\"password\":\"[redacted:password]\"}
JSESSIONID=1A530637289A03B07199A44E8D531427
    JSESSIONID=[redacted:token]
User alice, pw hunter22
    User alice, pw [redacted:password]
spring.datasource.password=hunter2
    spring.datasource.password=[redacted:password]
smtp_pass = "mailpass"
    smtp_pass = "[redacted:password]"
$env:API_KEY = "a1b2c3d4e5"
    $env:API_KEY = "[redacted:key]"
{'password': 'hunter2'}
    {'password': '[redacted:password]'}
apiKey: "a1b2c3d4-e5f6-7890-abcd-ef1234567890"
    apiKey: "[redacted:key]"
password = Tr0ub4dor&3
    password = [redacted:password]
Password (staging): S3cret99
    Password (staging): [redacted:password]
password -> hunter2
    password -> [redacted:password]
token = "a1b2c3d4e5"
    token = "[redacted:token]"
key=9f86d081884c7d659a2feaa0c55ad015
    key=[redacted:key]
password:hunter2,user:bob
    password:[redacted:password],user:bob
password = "changeme"
    password = "[redacted:password]"
Error 401: invalid token 'a1b2c3d4e5'
    Error 401: invalid token '[redacted:token]'
Das Root-PW ist toor123
    Das Root-PW ist [redacted:password]
apikey a1b2c3d4e5f6
    apikey [redacted:key]
DB_PASSWORD: "s3cr3t"
    DB_PASSWORD: "[redacted:password]"
PASSWORD='correct horse'
    PASSWORD='[redacted:password]'
NEXTAUTH_SECRET=abcdefabcdef
    NEXTAUTH_SECRET=[redacted:key]
app.secret_key = b'_5#y2L"F4Q8z\n\xec]/'
    app.secret_key = b'[redacted:key]'
consumer_secret=abcDEF123ghi
    consumer_secret=[redacted:key]
auth_token=0123abcd4567;
    auth_token=[redacted:token];
oauth_token_secret=abcDEF123456
    oauth_token_secret=[redacted:key]
net.password("hunter2")
    net.password("[redacted:password]")
User.create(password: 'hunter2')
    User.create(password: '[redacted:password]')
<add key="Password" value="hunter2"/>
    <add key="Password" value="[redacted:password]"/>
password: >-↵  hunter2
    password: >-↵  [redacted:password]
PASSWORD:hunter2
    PASSWORD:[redacted:password]
password - hunter2
    password - [redacted:password]
pass phrase: correct horse battery staple
    pass phrase: [redacted:password]
pin=123456
    pin=[redacted:password]
token 0123456789abcdef0123456789abcdef
    token [redacted:token]
STRIPE_KEY=abc123def456
    STRIPE_KEY=[redacted:key]
if (password != "hunter2") {
    if (password != "[redacted:password]") {
password = 12345678901234  # not a real one
    password = [redacted:password]  # not a real one
OTP: 123456
    OTP: [redacted:password]
{ "access_token" : "ABCdef123456", "expires_in" : 3600 }
    { "access_token" : "[redacted:token]", "expires_in" : 3600 }
JWT_SECRET_KEY="shhhhh"
    JWT_SECRET_KEY="[redacted:key]"
user=kai↵password=swordfish↵
    user=kai↵password=[redacted:password]↵
PASSWORD=swordfish ./run
    PASSWORD=[redacted:password] ./run
initial password = Welcome!
    initial password = [redacted:password]
HTTP basic auth admin:Adm1nPw@intranet
    HTTP basic auth admin:[redacted:password]
my api-key=0a1b2c3d4e5f
    my api-key=[redacted:key]
password:hunter2;
    password:[redacted:password];
{password=hunter2}
    {password=[redacted:password]}
`password=hunter2`
    `password=[redacted:password]`
...password=hunter2...
    ...password=[redacted:password]...
password=hunter2 user=bob
    password=[redacted:password] user=bob
passphrase="tiger mountain river"
    passphrase="[redacted:password]"
sasl.jaas.config=... required username="svc" password="hunter2";
    sasl.jaas.config=... required username="svc" password="[redacted:password]";
vault_password = hunter2
    vault_password = [redacted:password]
truststorePassword: changeit
    truststorePassword: [redacted:password]
connect("db", user="bob", passwd="hunter2")
    connect("db", user="bob", passwd="[redacted:password]")
Password : hunter2
    Password : [redacted:password]
Password=>hunter2
    Password=>[redacted:password]
_password_: hunter2
    _password_: [redacted:password]
__Password__: hunter2
    __Password__: [redacted:password]
> password: hunter2
    > password: [redacted:password]
password: hunter2\n
    password: [redacted:password]\n
Admin account: admin / Adm1n!23
    Admin account: admin / [redacted:password]
Das API-Token ist 8c1f0e9d7b6a
    Das API-Token ist [redacted:token]
MY_APP_KEY=8c1f0e9d7b6a
    MY_APP_KEY=[redacted:key]
Fernet key MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=
    Fernet key [redacted:key]
password := "sesam"
    password := "[redacted:password]"
private static final String PASSWORD = "sesam";
    private static final String PASSWORD = "[redacted:password]";
password='sesam' user='bob'
    password='[redacted:password]' user='bob'
pw: sesam
    pw: [redacted:password]
"""
SENTENCES = r"""
login is root with pass toor123
    login is root with pass [redacted:password]
the password is "correct horse"
    the password is "[redacted:password]"
PASSWORD is hunter2
    PASSWORD is [redacted:password]
the password is "correct horse"
    the password is "[redacted:password]"
Use hunter2 as the password
    Use [redacted:password] as the password
change the password from hunter2 to hunter3x
    change the password from [redacted:password] to [redacted:password]
The password of user bob is hunter2
    The password of user bob is [redacted:password]
The API key is abc123def456
    The API key is [redacted:key]
ALTER USER bob WITH PASSWORD 'swordfish';
    ALTER USER bob WITH PASSWORD '[redacted:password]';
"letmein123" is the password
    "[redacted:password]" is the password
The secret is abc123def
    The secret is [redacted:key]
the root password was toor1234
    the root password was [redacted:password]
The password is now Hunter3!
    The password is now [redacted:password]
set the password to hunter2 please
    set the password to [redacted:password] please
password should be Welcome123
    password should be [redacted:password]
Log in with alice / password Welcome123
    Log in with alice / password [redacted:password]
login: admin/Welcome123
    login: admin/[redacted:password]
password is `hunter2`
    password is `[redacted:password]`
my pass is S3cret99
    my pass is [redacted:password]
encryption key is 0123456789abcdef0123456789abcdef
    encryption key is [redacted:key]
The tokens are a1b2c3d4e5f6 and f6e5d4c3b2a1
    The tokens are [redacted:token] and [redacted:token]
the default password is admin
    the default password is [redacted:password]
password is hunter2 and user is bob
    password is [redacted:password] and user is bob
Please connect to the db with user app and password Xy7!kk
    Please connect to the db with user app and password [redacted:password]
use pw hunter22
    use pw [redacted:password]
login bob, password bob12345
    login bob, password [redacted:password]
session id is 0123456789abcdef0123456789abcdef
    session id is [redacted:token]
The PIN is 0815.
    The PIN is [redacted:password].
the password, by the way, is hunter2
    the password, by the way, is [redacted:password]
my password used to be hunter2
    my password used to be [redacted:password]
I use hunter2 as my password everywhere
    I use [redacted:password] as my password everywhere
sign with key 0123456789abcdef0123456789abcdef
    sign with key [redacted:key]
my passwords: hunter2, swordfish9
    my passwords: [redacted:password], [redacted:password]
Our Jenkins user is ci, its password B00tstrap must not leak.
    Our Jenkins user is ci, its password [redacted:password] must not leak.
logins: bob/Secret12
    logins: bob/[redacted:password]
Connect as readonly:r3ad0nly to the replica
    Connect as readonly:[redacted:password] to the replica
login with user "kai" and password "Br0tkrumen"
    login with user "kai" and password "[redacted:password]"
seed admin user with password admin123
    seed admin user with password [redacted:password]
The token we got back was 0a1b2c3d4e5f
    The token we got back was [redacted:token]
The Password Is Hunter2.
    The Password Is [redacted:password].
THE PASSWORD IS HUNTER2!
    THE PASSWORD IS [redacted:password]
password is "open sesame"
    password is "[redacted:password]"
Please hardcode the token 8c1f0e9d7b6a for now
    Please hardcode the token [redacted:token] for now
For testing use card 4242 and key pk_secret_8c1f0e9d7b6a
    For testing use card 4242 and key [redacted:key]
the secret for signing is 8c1f0e9d7b6a
    the secret for signing is [redacted:key]
Token abc is fine, token 8c1f0e9d7b6a is not
    Token abc is fine, token [redacted:token] is not
pssst, the password's s3samX
    pssst, the password's [redacted:password]
s3samX is my password
    [redacted:password] is my password
the password I chose is s3samX
    the password I chose is [redacted:password]
Unlock with PIN 0815
    Unlock with PIN [redacted:password]
"""
GERMAN = r"""
Mein Passwort: hallo welt 123
    Mein Passwort: [redacted:password]
Passwort: geheim123
    Passwort: [redacted:password]
Das Passwort ist geheim123
    Das Passwort ist [redacted:password]
Zugangsdaten: admin / geheim123
    Zugangsdaten: admin / [redacted:password]
Passwort auf geheim123 setzen
    Passwort auf [redacted:password] setzen
Kennwort: Sommer2024
    Kennwort: [redacted:password]
Die PIN ist 4711
    Die PIN ist [redacted:password]
API-Schlüssel: abc123def456
    API-Schlüssel: [redacted:key]
Admin-Passwort: Sommer2023!
    Admin-Passwort: [redacted:password]
Mein Kennwort lautet Blumentopf.
    Mein Kennwort lautet [redacted:password].
Das Kennwort heißt "Blumentopf"
    Das Kennwort heißt "[redacted:password]"
Passwort: „mein geheimes Wort“
    Passwort: „[redacted:password]“
Benutzer: admin, Passwort: admin
    Benutzer: admin, Passwort: [redacted:password]
Nutzer admin mit Passwort Admin!2024
    Nutzer admin mit Passwort [redacted:password]
Der API-Schlüssel ist a1b2c3d4e5f6
    Der API-Schlüssel ist [redacted:key]
Der Token lautet a1b2c3d4e5f6
    Der Token lautet [redacted:token]
Passwort für die Datenbank: S3cret99
    Passwort für die Datenbank: [redacted:password]
Das Passwort für den Admin ist S3cret99
    Das Passwort für den Admin ist [redacted:password]
geheim123 ist das Passwort
    [redacted:password] ist das Passwort
Nimm geheim123 als Passwort
    Nimm [redacted:password] als Passwort
Passwort lautet: Geheim!
    Passwort lautet: [redacted:password]
mein passwort ist katze99, bitte nicht weitersagen
    mein passwort ist [redacted:password], bitte nicht weitersagen
Root-Passwort ist toor123
    Root-Passwort ist [redacted:password]
Das Passwort des Admins lautet Fr3ude
    Das Passwort des Admins lautet [redacted:password]
Passwort wurde auf Fr3ude! geändert
    Passwort wurde auf [redacted:password] geändert
hunter2 ist Passwort
    [redacted:password] ist Passwort
SSID: Home, WPA2-Passwort: Br0tkrumen
    SSID: Home, WPA2-Passwort: [redacted:password]
Nutzername: kai↵Passwort: Br0tkrumen↵Server: db1
    Nutzername: kai↵Passwort: [redacted:password]↵Server: db1
Passwort:hunter2
    Passwort:[redacted:password]
* Passwort: hunter2
    * Passwort: [redacted:password]
Mein Passwort ist: „Hund7“
    Mein Passwort ist: „[redacted:password]“
Das Root-Kennwort lautet Wurzel77
    Das Root-Kennwort lautet [redacted:password]
Der Schlüssel lautet 8c1f0e9d7b6a5f4e3d2c
    Der Schlüssel lautet [redacted:key]
Anmeldung mit Benutzer root und Kennwort Wurzel77
    Anmeldung mit Benutzer root und Kennwort [redacted:password]
Passwort (Test): Test1234
    Passwort (Test): [redacted:password]
"""
URLS = r"""
postgres://user:pass@host/db
    postgres://user:[redacted:password]@host/db
redis://:secret@localhost:6379/0
    redis://:[redacted:password]@localhost:6379/0
mongodb+srv://app:S3cr3t%21@cluster0.mongodb.net/shop
    mongodb+srv://app:[redacted:password]@cluster0.mongodb.net/shop
jdbc:postgresql://h/db?user=bob&password=hunter2&ssl=true
    jdbc:postgresql://h/db?user=bob&password=[redacted:password]&ssl=true
https://x.example/cb?access_token=abc123def456ghi&state=1
    https://x.example/cb?access_token=[redacted:token]&state=1
mysql://root:toor@127.0.0.1:3306/test
    mysql://root:[redacted:password]@127.0.0.1:3306/test
DATABASE_URL=postgresql+asyncpg://app:Tr0ub4dor&3@db.internal:5432/app?sslmode=require
    DATABASE_URL=postgresql+asyncpg://app:[redacted:password]@db.internal:5432/app?sslmode=require
ftp://bob:swordfish@ftp.example.com/pub
    ftp://bob:[redacted:password]@ftp.example.com/pub
https://bob:s3cret@example.com/private
    https://bob:[redacted:password]@example.com/private
SENTRY_DSN=https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/2
    SENTRY_DSN=https://[redacted:token]@o1.ingest.sentry.io/2
curl -H "Authorization: Bearer 0123456789abcdef" https://api.example.com
    curl -H "Authorization: Bearer [redacted:token]" https://api.example.com
https://acc.blob.core.windows.net/c?sv=2020&sig=abc%2Bdef%3D0123456789&se=2030
    https://acc.blob.core.windows.net/c?sv=2020&sig=[redacted:token]&se=2030
https://example.com/login?user=bob&password=swordfish
    https://example.com/login?user=bob&password=[redacted:password]
https://example.com/?api_key=a1b2c3d4e5#top
    https://example.com/?api_key=[redacted:key]
https://user:p%40ss@proxy:3128
    https://user:[redacted:password]@proxy:3128
git remote set-url origin https://bob:hunter2@git.example.com/x.git
    git remote set-url origin https://bob:[redacted:password]@git.example.com/x.git
http_proxy=http://bob:hunter2@proxy:3128
    http_proxy=http://bob:[redacted:password]@proxy:3128
sqlserver://sa:P@ssw0rd!@db:1433?database=x
    sqlserver://sa:[redacted:password]@db:1433?database=x
mongodb://root:example@mongo:27017/?authSource=admin
    mongodb://root:[redacted:password]@mongo:27017/?authSource=admin
curl --user 'bob:hunter2' https://x
    curl --user 'bob:[redacted:password]' https://x
curl -X POST https://x \↵  -u developer:yqDVtkqPECriaLRi
    curl -X POST https://x \↵  -u developer:[redacted:password]
Please migrate the legacy DB (mysql://legacy:0ldP4ss@10.1.2.3/erp) to Postgres.
    Please migrate the legacy DB (mysql://legacy:[redacted:password]@10.1.2.3/erp) to Postgres.
https://example.com/#access_token=abcDEF123456&token_type=bearer
    https://example.com/#access_token=[redacted:token]&token_type=bearer
wss://x.example/?token=abcDEF123456
    wss://x.example/?token=[redacted:token]
ssh://bob:hunter2@host:22/x
    ssh://bob:[redacted:password]@host:22/x
ldap://cn=admin:hunter2@ldap.example.com
    ldap://cn=admin:[redacted:password]@ldap.example.com
https://:hunter2@example.com
    https://:[redacted:password]@example.com
cloudinary://123456789012345:abcDEF-ghi_JKL123@demo
    cloudinary://123456789012345:[redacted:password]@demo
The DSN is postgresql://svc:k3ks@pg.internal/orders
    The DSN is postgresql://svc:[redacted:password]@pg.internal/orders
redis://:f00b4r@cache:6379
    redis://:[redacted:password]@cache:6379
"""
HEADERS = r"""
Cookie: session=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c
    Cookie: session=[redacted:token]
Authorization: Bearer abc123def456
    Authorization: Bearer [redacted:token]
X-Api-Key: abc123def456
    X-Api-Key: [redacted:key]
Bearer 9a8b7c6d5e4f3a2b1c
    Bearer [redacted:token]
"Authorization": "Bearer mF_9.B5f-4.1JqM"
    "Authorization": "Bearer [redacted:token]"
Set-Cookie: sid=s%3Aj4hd83hf7sk29dkf83hs7fk3.abc; HttpOnly
    Set-Cookie: sid=[redacted:token]; HttpOnly
PHPSESSID=0123456789abcdefghij0123456789
    PHPSESSID=[redacted:token]
X-Amz-Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
    X-Amz-Signature=[redacted:token]
invalid x-api-key: a1b2c3d4e5f6
    invalid x-api-key: [redacted:key]
-H "Authorization: ApiKey abcDEF123=="
    -H "Authorization: ApiKey [redacted:token]"
Authorization=Bearer abcDEF123
    Authorization=Bearer [redacted:token]
Proxy-Authorization: Basic dXNlcjpwYXNzd29yZA==
    Proxy-Authorization: Basic [redacted:password]
Private-Token: abcDEF123456
    Private-Token: [redacted:token]
cookie: connect.sid=s%3A0123456789abcdef.ABCDEF0123456789
    cookie: connect.sid=[redacted:token]
Authorization: 5eb4223e-5008-46e5-be67-c7b8f2732305
    Authorization: [redacted:token]
Cookie: SID=31d4d96e407aad42; lang=en
    Cookie: SID=[redacted:token]; lang=en
x-api-key=ABCdef123456
    x-api-key=[redacted:key]
COOKIE_SECRET=keyboardcat
    COOKIE_SECRET=[redacted:key]
Authorization: Bearer 0a1b2c3d4e5f, then retry
    Authorization: Bearer [redacted:token], then retry
curl -H 'Authorization: Bearer 0a1b2c3d4e5f'
    curl -H 'Authorization: Bearer [redacted:token]'
headers = {"X-API-KEY": "0a1b2c3d4e5f"}
    headers = {"X-API-KEY": "[redacted:key]"}
"""
COMMANDS = r"""
--password hunter2
    --password [redacted:password]
mysql -u root -phunter2 shop
    mysql -u root -p[redacted:password] shop
mysql -u root -p hunter2
    mysql -u root -p [redacted:password]
sshpass -p hunter2 ssh bob@host
    sshpass -p [redacted:password] ssh bob@host
docker login -u bob -p hunter2 registry.example.com
    docker login -u bob -p [redacted:password] registry.example.com
echo hunter2 | docker login -u bob --password-stdin
    echo [redacted:password] | docker login -u bob --password-stdin
PGPASSWORD=hunter2 psql -h db
    PGPASSWORD=[redacted:password] psql -h db
--api-key=a1b2c3d4e5
    --api-key=[redacted:key]
--token a1b2c3d4e5
    --token [redacted:token]
mysqldump --password=swordfish shop > dump.sql
    mysqldump --password=[redacted:password] shop > dump.sql
tool --user bob --password swordfish --host db
    tool --user bob --password [redacted:password] --host db
redis-cli -a foobared ping
    redis-cli -a [redacted:password] ping
requirepass foobared
    requirepass [redacted:password]
ConvertTo-SecureString "P@ssw0rd" -AsPlainText -Force
    ConvertTo-SecureString "[redacted:password]" -AsPlainText -Force
MYSQL_PWD=swordfish mysql -u root
    MYSQL_PWD=[redacted:password] mysql -u root
mysql --user=root --password=toor -e 'show tables'
    mysql --user=root --password=[redacted:password] -e 'show tables'
unzip -P hunter2 a.zip
    unzip -P [redacted:password] a.zip
openssl rsa -in k.pem -passin pass:hunter2
    openssl rsa -in k.pem -passin pass:[redacted:password]
gpg --batch --passphrase hunter2 -d a.gpg
    gpg --batch --passphrase [redacted:password] -d a.gpg
curl --user kevin:'pRf7vG2h1L8nQkW9' -iX PATCH
    curl --user kevin:'[redacted:password]' -iX PATCH
net user bob P@ssw0rd! /add
    net user bob [redacted:password] /add
htpasswd -cb .htpasswd bob swordfish
    htpasswd -cb .htpasswd bob [redacted:password]
sqlplus scott/tiger@orcl
    sqlplus scott/[redacted:password]@orcl
kubectl create secret generic db --from-literal=password=swordfish
    kubectl create secret generic db --from-literal=password=[redacted:password]
helm upgrade app --set db.password=swordfish
    helm upgrade app --set db.password=[redacted:password]
docker run -e MYSQL_ROOT_PASSWORD=my-secret-pw mysql:8
    docker run -e MYSQL_ROOT_PASSWORD=[redacted:password] mysql:8
aws configure set aws_secret_access_key abcDEF123456ghiJKL
    aws configure set aws_secret_access_key [redacted:key]
heroku config:set API_KEY=abc123
    heroku config:set API_KEY=[redacted:key]
-Djavax.net.ssl.keyStorePassword=changeit
    -Djavax.net.ssl.keyStorePassword=[redacted:password]
-Password hunter2
    -Password [redacted:password]
--pw=hunter2
    --pw=[redacted:password]
--secret=abc123def
    --secret=[redacted:key]
--client-secret abc123def
    --client-secret [redacted:key]
"""
ADDRESSES = r"""
Write to alice@example.com please
    Write to [redacted:email] please
alice+tag@sub.example.co.uk
    [redacted:email]
Alice <alice@example.com>
    Alice <[redacted:email]>
mailto:alice@example.com
    mailto:[redacted:email]
?email=alice%40example.com
    ?email=[redacted:email]
https://alice%40example.com:hunter2@example.com/
    https://[redacted:email]:[redacted:password]@example.com/
user: alice@example.com, password: hunter2
    user: [redacted:email], password: [redacted:password]
Bitte an max.mustermann@firma.de schicken
    Bitte an [redacted:email] schicken
Send logs to ops@my-company.io and dev@my-company.io.
    Send logs to [redacted:email] and [redacted:email].
Reply-To: "Bob" <bob_smith@mail.example.org>
    Reply-To: "Bob" <[redacted:email]>
contact:bob@example.com
    contact:[redacted:email]
bob's mail is 'bob@example.com'
    bob's mail is '[redacted:email]'
notify [bob@example.com](mailto:bob@example.com)
    notify [[redacted:email]](mailto:[redacted:email])
assign to bob@example.com; cc eve@example.com
    assign to [redacted:email]; cc [redacted:email]
Co-authored-by: Bob <123+bob@users.noreply.github.com>
    Co-authored-by: Bob <[redacted:email]>
Schreib an info@beispiel.at, danke
    Schreib an [redacted:email], danke
E-Mail: info@beispiel.at
    E-Mail: [redacted:email]
Ping bob@example.com!
    Ping [redacted:email]!
Is bob@example.com right?
    Is [redacted:email] right?
bob@example.com,eve@example.com
    [redacted:email],[redacted:email]
email=bob@example.com&name=Bob
    email=[redacted:email]&name=Bob
ADMIN_EMAIL=bob@example.com
    ADMIN_EMAIL=[redacted:email]
<a href="mailto:bob@example.com?subject=x">
    <a href="mailto:[redacted:email]?subject=x">
bob@EXAMPLE.com: hello
    [redacted:email]: hello
"bob.smith@example.com" is the owner
    "[redacted:email]" is the owner
to bob@example.com / eve@example.com
    to [redacted:email] / [redacted:email]
As an admin I log in with admin@shop.example and the password Kn0b1auch.
    As an admin I log in with [redacted:email] and the password [redacted:password].
Credentials for staging: qa@example.org / Qa-2024!
    Credentials for staging: [redacted:email] / [redacted:password]
two: password=hunter2 and token=abc123def456 and bob@example.com
    two: password=[redacted:password] and token=[redacted:token] and [redacted:email]
bob@example.com has password hunter2
    [redacted:email] has password [redacted:password]
bob@example.com:hunter2
    [redacted:email]:[redacted:password]
My answer: use ops@example.com as the sender
    My answer: use [redacted:email] as the sender
The demo account is demo@example.com with password demo1234
    The demo account is [redacted:email] with password [redacted:password]
Schick die Rechnung an buchhaltung@müller-söhne.de
    Schick die Rechnung an [redacted:email]
"""
GUILTY = (SETTINGS, SENTENCES, GERMAN, URLS, HEADERS, COMMANDS, ADDRESSES)


def pairs(*blocks: str) -> list[tuple[str, str]]:
    """Pairs of a text and what may be recorded of it."""
    lines = [line.replace("↵", "\n") for block in blocks for line in block.strip("\n").splitlines()]
    return [
        (text, line.removeprefix("    "))
        for text, line in zip(lines[::2], lines[1::2], strict=True)
    ]


# Pairs of a credential and what it is recorded as.
SHAPES = [
    (AWS, "key"),
    ("ASIA" + "Y34FZKBOKMUTVV7A", "key"),
    ("sk-" + MIX, "key"),
    ("sk-" + "abc123def456", "key"),
    (OPENAI, "key"),
    ("sk-" + "svcacct-" + MIX, "key"),
    ("sk-" + "ant-api03-" + MIX, "key"),
    ("sk-" + "or-v1-" + HEX, "key"),
    (STRIPE, "key"),
    ("sk_" + "test_" + MIX[:24], "key"),
    ("rk_" + "live_" + MIX[:24], "key"),
    ("whsec_" + MIX[:32], "key"),
    ("AIza" + "Sy" + MIX[:33], "key"),
    ("GOC" + "SPX-" + MIX[:28], "key"),
    ("SK" + HEX[:32], "key"),
    ("SG." + MIX[:22] + "." + MIX[:43], "key"),
    ("key-" + HEX[:32], "key"),
    (HEX[:32] + "-us12", "key"),
    ("AGE-SECRET-" + "KEY-1" + "QPZRY9X8" * 7, "key"),
    ("A3-" + "ABCDEF-GHIJKL-MNOPQ-RSTUV-WXYZ2-34567", "key"),
    ("NRAK-" + "ABC123" * 5, "key"),
    ("PMAK-" + HEX[:24] + "-" + HEX[:34], "key"),
    ("LTAI" + MIX[:20], "key"),
    ("gsk_" + MIX, "key"),
    ("xai-" + MIX, "key"),
    ("pplx-" + MIX, "key"),
    ("lin_api_" + MIX[:40], "key"),
    ("tskey-" + "auth-" + MIX[:12] + "-" + MIX[:20], "key"),
    ("sq0csp-" + MIX[:43], "key"),
    ("xkeysib-" + HEX + "-" + MIX[:16], "key"),
    ("abC8" + "Q~" + MIX[:34], "key"),
    (GITHUB, "token"),
    ("gho_" + MIX[:36], "token"),
    ("ghs_" + MIX[:36], "token"),
    ("ghu_" + MIX[:36], "token"),
    ("ghr_" + MIX[:36], "token"),
    ("github_" + "pat_" + MIX[:22] + "_" + MIX, "token"),
    ("glpat-" + MIX[:20], "token"),
    ("glrt-" + MIX[:20], "token"),
    ("xoxb-" + "123456789012-" + MIX[:24], "token"),
    ("xoxp-" + "123456789012-" + MIX[:24], "token"),
    ("xapp-1-" + "A0123456789-" + HEX, "token"),
    ("ya29." + MIX, "token"),
    ("1//0g" + MIX, "token"),
    ("npm_" + MIX[:36], "token"),
    ("pypi-" + "AgEIcHlwaS5vcmc" + MIX, "token"),
    ("hf_" + "aBcDeF" * 5 + "gHiJ", "token"),
    ("dop_v1_" + HEX, "token"),
    ("123456789:" + "AA" + MIX[:33], "token"),
    ("MTAxMjM0" + MIX[:16] + ".GabcDE." + MIX[:38], "token"),
    ("sntrys_" + MIX, "token"),
    ("dapi" + HEX[:32], "token"),
    ("hvs." + MIX, "token"),
    ("shpat_" + HEX[:32], "token"),
    ("dckr_" + "pat_" + MIX[:27], "token"),
    ("figd_" + MIX[:40], "token"),
    ("ATATT3" + MIX, "token"),
    ("pul-" + HEX[:40], "token"),
    ("glsa_" + MIX[:32] + "_0a1b2c3d", "token"),
    ("sbp_" + HEX[:40], "token"),
    (JWT, "token"),
    (JWT.rpartition(".")[0], "token"),
    (PEM, "key"),
    (PEM.rpartition("-----END")[0].rstrip(), "key"),
    (PEM.replace("\n", "\\n"), "key"),
    (f"{HEADER.format('')}\nMIIEow...\n{FOOTER.format('')}", "key"),
    (f"{HEADER.format('OPENSSH ')}\nb3Blbn{MIX}", "key"),
]

# Pairs of a text and what may be recorded of it, with credentials that only exist at run time.
ASSEMBLED = [
    (f"Deploy with {AWS} to eu-central-1.", "Deploy with [redacted:key] to eu-central-1."),
    (f"aws_secret_access_key = {AWS_SECRET}", "aws_secret_access_key = [redacted:key]"),
    (f"export GITHUB_TOKEN={GITHUB}", "export GITHUB_TOKEN=[redacted:token]"),
    (f"Our key is {OPENAI}, keep it safe", "Our key is [redacted:key], keep it safe"),
    (f"STRIPE_SECRET_KEY={STRIPE}", "STRIPE_SECRET_KEY=[redacted:key]"),
    (f"Authorization: Bearer {JWT}", "Authorization: Bearer [redacted:token]"),
    (f"https://x.example/?jwt={JWT}&a=1", "https://x.example/?jwt=[redacted:token]&a=1"),
    (
        f"git clone https://oauth2:{GITHUB}@github.com/org/repo.git",
        "git clone https://oauth2:[redacted:token]@github.com/org/repo.git",
    ),
    (
        "https://hooks.slack.com/" + "services/T01ABCDEF/B01ABCDEF/" + MIX[:24],
        "https://hooks.slack.com/services/[redacted:token]",
    ),
    (
        "https://discord.com/api/" + "webhooks/123456789012345678/" + MIX,
        "https://discord.com/api/webhooks/[redacted:token]",
    ),
    (
        "https://api.telegram.org/" + "bot123456789:AA" + MIX[:33] + "/getMe",
        "https://api.telegram.org/bot[redacted:token]/getMe",
    ),
    (
        "https://" + HEX[:32] + "@o1.ingest.sentry.io/2",
        "https://[redacted:token]@o1.ingest.sentry.io/2",
    ),
    (
        "AccountName=a;AccountKey=" + MIX + "==;EndpointSuffix=core.windows.net",
        "AccountName=a;AccountKey=[redacted:key];EndpointSuffix=core.windows.net",
    ),
    (f"Sign with\n{PEM}\nand deploy.", "Sign with\n[redacted:key]\nand deploy."),
    ("the password is \u2018hunter2\u2019", "the password is \u2018[redacted:password]\u2019"),
    ("password \u2013 hunter2", "password \u2013 [redacted:password]"),
]


@each(("text", "recorded"), [*pairs(*GUILTY), *ASSEMBLED])
def test_a_secret_goes_and_the_rest_stays(text: str, recorded: str) -> None:
    assert redact(text).text == recorded


@each(("secret", "kind"), SHAPES)
def test_a_credential_goes_by_its_shape(secret: str, kind: str) -> None:
    assert redact(f"use {secret} for it") == (f"use [redacted:{kind}] for it", (kind,))
    assert redact(f'"{secret}",') == (f'"[redacted:{kind}]",', (kind,))


# 2. What must stay

INNOCENT = r"""
The login is simple with pass through enabled
login is root with pass and key
Passwort: siehe Seite 12
Passwort: siehe Abschnitt drei Seite 12
password: see page 12
password: between eight and 64
password: see section four chapter 2
Passwort: mindestens zwölf Zeichen
Email/Password
password reset
Add password hashing with bcrypt
token refresh
JWT tokens
rotate API keys
API key authentication
secret management
password: required, min 12 characters
password: at least 12 characters
password is required
password is too short
token: optional
pass: the token in the header
Passwort zurücksetzen
da39a3ee5e6b4b0d3255bfef95601890afd80709
Fixed in commit da39a3ee5e6b4b0d3255bfef95601890afd80709
550e8400-e29b-41d4-a716-446655440000
@decorator
npm @scope/pkg
user@
foo @ bar
git@github.com:org/repo.git
scp a.txt bob@server.example.com:/var/www
scp bob@server.example.com:backup.tar.gz .
react@18.2.0
react@19.0.0-rc.abc
https://example.com/path?x=1
postgres://host/db
postgres://user@host/db
sk-learn
sk-SK
task-1234567890abcdef
key: value store
primary key
session=None
token=None
password=os.environ["DB_PASSWORD"]
password: ${DB_PASSWORD}
<password>
password=***
secret: ENV
password=getpass()
password = getpass.getpass("Password: ")
login(user, password=password)
connect(user=user, password=db_password)
password = request.form["password"]
password: string
password: z.string().min(8)
password: Optional[str] = None
password: SecretStr = Field(min_length=12)
password = models.CharField(max_length=128)
password VARCHAR(255) NOT NULL
password: bcrypt
password: Argon2id
password: hashed with argon2
Password storage: Argon2id, 3 iterations
password: 12 characters minimum
password: 8-64 characters
password: min. 8 Zeichen
Passwort: mindestens 12 Zeichen
Passwort: Pflichtfeld
Passwort ist erforderlich
Das Passwort ist zu kurz
Das Passwort ist abgelaufen
Passwort vergessen?
token: JWT
token: RS256
token: 15min
token expires in 24h
token is a JWT
The token is opaque
the secret is out
the key is composite
primary key: id
foreign key: user_id
cache key: user:123:profile
Idempotency-Key: 550e8400-e29b-41d4-a716-446655440000
public key: MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A
ssh key: ~/.ssh/id_ed25519
key=lambda x: x.name
sorted(xs, key=itemgetter(1))
token_type: bearer
Bearer authentication
Use a Bearer token in the Authorization header
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization header
Basic authentication over TLS
basic auth
max_tokens=4096
password_min_length: 12
password_hash: $HASH
passwords are hashed with sha256
password strength meter
password policy: 12chars
support password, OAuth2 and SAML2 login
password or OAuth2
Email/Password, OAuth2, or SSO?
password auth for v2
getty@tty1.service
logo@2x.png
this@MainActivity.findViewById
ssh deploy@server.example.com
root@localhost
actions/checkout@v4
uses: org/repo/.github/workflows/ci.yml@main
go get example.com/mod@v1.2.3
@types/node@20.1.0
curl -u user https://x
docker run -u 1000:1000 -p 8080:80 app
ssh -p 2222 host
docker run --name mysql -p 3306:3306 mysql:8
mysql -u root -p mydb
mysql -u root -p < dump.sql
http://localhost:3000
http://localhost:8080/path@x
https://medium.com/@user/post-123
https://host:8080/@scope/pkg
-----BEGIN CERTIFICATE-----
The --password flag is deprecated
--password or --token
--password <password>
--password=$DB_PASSWORD
--password-stdin
<input type="password" name="password">
<input type="password" placeholder="Enter your password">
{ email, password }
{ username: username, password: password }
password: { type: String, required: true }
["username", "password", "email"]
password !== confirmPassword
if password == "":
def check_password(password: str) -> bool:
password := r.FormValue("password")
forgot password flow with email link
Store the API key in the environment variable OPENAI_API_KEY
api_key = os.getenv("API_KEY")
api_key: ${{ secrets.API_KEY }}
apiKey: process.env.API_KEY
api_key=YOUR_API_KEY
token: <your-token>
secret: vault
secret: my-tls-secret
token: color-blue-500
design token: spacing-4
keyboard shortcut key: ctrl+k
passkeys and WebAuthn
one-time password via SMS
2FA: password plus TOTP
password complexity: upper, lower, digit
password123 is not allowed
pass 3 of 5 tests
bypass: 1234abcd
the compass: north
Which database: postgres://localhost:5432/app
contact support@ for help
price @ 5.99
meet @ 10.30
a @ b.T
password: contact the admin
session storage: redis
session id in a cookie
session timeout: 30min
sessionStorage
wait for the token bucket to refill
token bucket with 100 req/s
tokenizer: cl100k_base
tokens: 4096
use k8s secrets
Kubernetes secret mounted at /run/secrets/db
secret: /run/secrets/db_password
password: !vault |
password: see 1Password
key points: 3
monkey: 12345678
turkey
react-query v5.0.0-beta.12345
AKIA prefix
the ghp_ prefix
sk-...
ghp_xxx
eyJ prefix
npm_config_registry
hf_hub_download
pypi-publish
SGML.parser.documentation
https://example.com/reset?token=<token>
https://example.com/reset?token={token}
/users/:id/password
GET /password/reset/:token
PUT /v1/users/{id}/password
token: Bearer
tokens are stored hashed (SHA-256)
password (bcrypt, cost 12)
password (min 8)
passwords: never logged
passwort: siehe Vault
Token-Erneuerung
Schlüssel: Wert
Primärschlüssel: id
Schlüsselwort: foo
Geheimnis: niemand weiß es
Zugang: per VPN
Login with OAuth2/OIDC
log in as admin
login: e-mail and password
authentication via e-mail/password
Add OAuth2 login next to email/password
Passwords must have at least 12 characters, one digit and one symbol
Password: 12+ characters, no composition rules
Reset token: 32 bytes, base64url
token: JWT signed with RS256
token: str | None = None
const token = req.headers.authorization.split(" ")[1]
Authorization: Bearer {access_token}
bearer token in cookie vs localStorage
session_id: uuid
session = Session(engine)
SESSION_COOKIE_AGE=1209600
{% csrf_token %}
Each API key has a name, scope and expiry
api_key: str
api_key = config.get("api_key")
OPENAI_API_KEY=
export ANTHROPIC_API_KEY=your-key-here
SECRET_KEY = os.environ["SECRET_KEY"]
secrets manager: AWS or Vault?
valueFrom: ssm:/prod/db/password
gcloud secrets versions access latest --secret=db-password
secretary: Bob
key: user_id
partition key: tenant#42
redis key: session:550e8400-e29b-41d4-a716-446655440000
composite key: order_id + line_no
keynote at 10:30
SSH public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ
dict key 'abc123def456' is missing
monkeypatch
Der Schlüssel zum Erfolg ist Geduld
API-Schlüssel: Pflicht
Passwort: wird per E-Mail verschickt
Das Passwort ist verschlüsselt
Das Passwort ist unsicher.
Passwort muss mindestens 8 Zeichen haben
Zugangsdaten: siehe Wiki
Anmeldung per E-Mail/Passwort
PIN vergessen
pin the dependency: 1.2.3
GPIO pin 17
password is stored in plain text
password is case-sensitive
password is in the vault
password is encrypted!
Is the password correct?
password field, 2 columns
password: ''
password: yes
password: generated (16 chars)
password: String @db.VarChar(60)
password:↵  type: string↵  minLength: 12
{"fields": ["email", "password"]}
password = PasswordField("Password", validators=[DataRequired()])
password TEXT NOT NULL
password = user.password
password == user.password
user.password = hashed
password1 and password2 do not match
page.fill("#password", password)
-e POSTGRES_PASSWORD
DB_PASSWORD=<secret>
PASSWORD_HASHERS = ["argon2"]
The --token option is new in v2.1
docker compose -p project1 up
git clone git@gitlab.example.com:team/app.git
pip install git+https://github.com/org/repo.git@v1.2.3
npm install @scope/pkg@1.0.0-beta.2
https://cdn.jsdelivr.net/npm/vue@3.4.0/dist/vue.js
sha512-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF+/==
@alice can you review?
a@b
foo@bar
name (at) example
http://user@localhost:8080/
redis://localhost:6379/0
postgres://user:<password>@host/db
postgres://USER:PASSWORD@HOST:5432/DB
jdbc:mysql://db:3306/app?useSSL=false
/etc/passwd
https://example.com/oauth/token
grant_type=client_credentials
client_id=abc123def456
commit 9fceb02d0ae598e95dc970b74767f19372d61af8
build 20240115.1234567890
IBAN-Prüfung
a very_long_identifier_name_with_numbers_123
translation key: errors.auth.token_expired
task-automation-service-v2
sk-learn-pipeline-2024
SG-1234 security group
EAASI compatible
npm_package_version
dapi endpoint
SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDD5WcHQrNOb8bVUo0
login: required
login via SSO/SAML2
Log in as alice, then as bob
username/password: classic
pass: yes
passport: AB1234567
compass: n0rth
tokenize: gpt2
the token count is 4096
tokens/s: 35
next-token prediction
ticket PROJ-1234: password reset
password bug in v2.3.1
password via LDAP/AD
password + TOTP
password; token; cookie
Password!
`password`
{password}
<Password type="string"/>
%PASSWORD%
:password
Reject 'password1' as a password
Password: bcrypt or Argon2id?
Which auth: password, magic link, or SSO?
pass force_zip64 to use the ZIP64 format
username, password = split
Password was given but private key is not encrypted.
the token is 40 hex characters
the PIN has 4 digits
otp: 6 digits
arn:aws:secretsmanager:*:*:secret:rds-beta-us-east-1
type: password
env:↵  - name: DB_PASSWORD↵    valueFrom:↵      secretKeyRef:↵        name: db1
hf_requiredCharacteristicTypesForDisplayMetadata
user session 42
session-based auth
auth: JWT via RS256, 15min
credentials provider: aws-sdk-v3-2024
insider2024
Please migrate the legacy DB (mysql://10.1.2.3/erp) to Postgres.
Which hashing for passwords: bcrypt, scrypt or Argon2id?
Session tokens are 256-bit random, stored as SHA-256
nonce: 16 bytes, key: 32 bytes (XChaCha20-Poly1305)
The encryption key is derived from the passphrase
signing key: rotate every 90d
api key format: pf_live_ + 32 chars
secret: see README.md
webhook secret is generated
token: cookie or header?
The token is valid for 1h
token storage: localStorage vs cookie
Refresh token rotation with reuse detection (RFC6819)
Bearer auth for v2 endpoints
Authorization: role-based (RBAC), 3 roles
login: OAuth2 via Google/Microsoft
Log in as guest/demo user
user/pass or SSO
Zugang: VPN/WireGuard
Kennwort ist Pflichtangabe
Passwort: ja/nein?
Das Passwort ist das gleiche wie vorher
Das Passwort lautet wie folgt
pw: optional
pwd: /srv/app2
passcode: none
two-pass compiler, pass2 optimises
compass=N45E12
key press: F12
shift key: Ctrl+Shift+K2
?sort=key&order=asc
https://example.com/#/tokens/overview2
https://example.com/@alice/posts
ssh -p 2222 -L 8080:localhost:80 kai@bastion.example.com
git@codeberg.org:kai/app.git
go install golang.org/x/tools/cmd/stringer@latest
@angular/core 17
return@forEach
trace 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
base64: SGVsbG8sIHdvcmxkIQ==
EAAT is a station
xoxo
pypi-mirror-2024-eu
whsec_...
eyJhbGciOiJIUzI1NiJ9
passwords & secrets management
redact "password": "..." in request bodies
UPDATE users SET password = NULL
INSERT INTO users (name, password) VALUES (?, ?)
password: user.password ?? "",
<td>password</td><td>required</td>
- [ ] password reset
1. password
rails g model User email:string password_digest:string
len(password) < 8
password and token
Use NextAuth with GitHub and Google providers
API keys can be revoked; a revoked key returns 401
Replace the session cookie with a JWT in memory
Secrets: AWS Secrets Manager (eu-central-1)
Password reset by e-mail link, valid 1h, single use
Password hashing: Argon2id m=65536 t=3 p=4
Show a password strength meter (zxcvbn score 0-4)
The password is sent over TLS only
The password hash is bcrypt with cost 12
The token is rotated on each use
The key is never stored
Passwort-Regeln: mindestens 12 Zeichen, keine Wiederholung
Das Passwort ist nur dem Benutzer bekannt
Der Schlüssel ist die Kundennummer
Zugang nur mit 2FA
Kein Passwort im Klartext
Public keys only in authorized_keys
token count: 8192, price per 1k tokens: 0.002
secret ballot voting app
pass user_id2 as argument
pins on a map: max 200
Basic plan vs Pro2024 plan
cookie banner, cookie consent v2.2
curl -u $USER:$PASS https://api.example.com
psql -h db -U app -p 5432
echo "$TOKEN" | docker login --password-stdin
API_KEY=${API_KEY}
password=?
Password: ________
Password: (none)
"password": "Your password"
password: "must be at least 12 characters"
"type": "password"
password: "{{ vault_db_password }}"
WWW-Authenticate: Basic realm="admin"
"password": "string"
"password": "Enter a password"
f"secret: {response.read()}"
"id": "550e8400-e29b-41d4-a716-446655440000", "token_type": "Bearer"
"password" => "required|string|min:8"
assert password != ""
"""

INNOCENT_ASSEMBLED = [
    f"Detect {HEADER.format('')!r} headers in commits",
    f"It begins with {HEADER.format('')} and ends with {FOOTER.format('')}.",
    f"{HEADER.format('')}\n...\n{FOOTER.format('')}",
    "password \u2013 required",
    "password\u2026 forgotten?",
    "",
]


@each("text", [*INNOCENT.strip("\n").splitlines(), *INNOCENT_ASSEMBLED])
def test_an_innocent_text_stays(text: str) -> None:
    text = text.replace("↵", "\n")
    assert redact(text) == (text, ())


def test_the_corpus_is_large_and_half_innocent() -> None:
    guilty = len(pairs(*GUILTY)) + len(SHAPES) + len(ASSEMBLED)
    innocent = len(INNOCENT.strip("\n").splitlines()) + len(INNOCENT_ASSEMBLED)
    assert guilty >= 110
    assert innocent >= 110
    assert 0.4 <= innocent / (guilty + innocent) <= 0.6


# 3. What the person is told


def test_the_kinds_are_told_in_order_of_appearance() -> None:
    text = f"ada@example.com, password hunter2, key {AWS}, then {GITHUB} and bob@example.com"
    assert redact(text).kinds == ("email", "password", "key", "token", "email")


def test_a_marker_that_was_there_is_neither_told_nor_touched() -> None:
    text = "password: [redacted:password], mail bob@example.com, token=[redacted:token]"
    assert redact(text) == (text.replace("bob@example.com", "[redacted:email]"), ("email",))


def test_nothing_is_read_across_a_marker() -> None:
    text = "the password is [redacted:password] required by [redacted:email] hunter2"
    assert redact(text) == (text, ())


# 4. Laws

FRAGMENTS = [
    *("password", "Passwort", "pw", "pin", "token", "secret", "api key", "session", "Bearer "),
    *("=", ": ", " is ", " ist ", " as ", " to ", "hunter2", "swordfish", "geheim123", "required"),
    *(AWS, GITHUB, OPENAI, JWT, PEM, HEADER.format(""), "sk-", "ghp_", "A1b2C3d4E5f6", "1234"),
    *("@", "alice@example.com", "bob%40x.de", "postgres://", "user:", "://", "(at)", "git@"),
    *("[redacted:token]", "[redacted:", "password]", "]", "\ufdd0", "${", "{{", "<", ">", "***"),
    *("\n", " ", "\t", "\\", '"', "'", "`", "„", "“", ",", ";", ".", "&", "|", "-", "_", "--", "İ"),
    *("curl -u ", "mysql -p", "login ", "value", "for the ", "of bob", " and ", "https://", "/"),
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS), max_size=16).map("".join))
# Without p, s, t and k there is no label, without a digit or a sign no shape and no address.
prose = st.text(alphabet="abcdefghijlmnoqruvwxyzäöüABCDEFG .,!?\n")


@given(texts)
def test_redacting_again_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once) == (once, ())


@given(texts)
def test_each_kind_told_is_a_marker_more(text: str) -> None:
    markers = [f"[redacted:{kind}]" for kind in KINDS]
    redacted = redact(text)
    before = sum(text.count(marker) for marker in markers)
    after = sum(redacted.text.count(marker) for marker in markers)
    assert after == before + len(redacted.kinds)


@given(prose)
def test_text_that_can_hold_no_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


@given(prose, st.sampled_from(SHAPES), prose)
def test_a_credential_goes_wherever_it_stands(
    before: str, shape: tuple[str, str], after: str
) -> None:
    secret, kind = shape
    expected = f"{before} [redacted:{kind}] {after}"
    assert redact(f"{before} {secret} {after}") == (expected, (kind,))


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_no_text_raises(text: str) -> None:
    redact(text)


# 5. Hostile texts: without bounds in the patterns, these would not end

MILLION = 1_000_000  # characters


@pytest.mark.parametrize(
    "unit", ["a", "@", "password=", "-----BEGIN", "a@", "a.", "eyJ", "://a:", "[redacted:", "\\"]
)
def test_a_long_text_without_a_secret_stays(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("unit", "recorded", "kind"),
    [
        ("password=hunter2 ", "password=[redacted:password] ", "password"),
        ("bob@example.com ", "[redacted:email] ", "email"),
        (f"{AWS} ", "[redacted:key] ", "key"),
        (f"{GITHUB}\n", "[redacted:token]\n", "token"),
        ("://a:b@ ", "://a:[redacted:password]@ ", "password"),
    ],
)
def test_secrets_without_number_all_go(unit: str, recorded: str, kind: str) -> None:
    number = 2_000
    assert redact(unit * number) == (recorded * number, (kind,) * number)


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ("password=hunter2", "password"),
        ("sk-a1", "key"),
        ("ghp_a1", "token"),
        ("eyJabcdef.", "token"),
    ],
)
def test_a_credential_without_end_goes_as_a_whole(start: str, kind: str) -> None:
    long = start + "x" * MILLION
    recorded = "password=[redacted:password]" if kind == "password" else f"[redacted:{kind}]"
    assert redact(long) == (recorded, (kind,))


def test_a_private_key_without_end_goes_as_a_whole() -> None:
    long = HEADER.format("RSA ") + "\nMII" + "a1B2" * (MILLION // 4)
    assert redact(long) == ("[redacted:key]", ("key",))
