"""Redaction of passwords that are glued to an option: no miss and no false alarm."""

from __future__ import annotations

import pytest

from preflights_es.redaction.masking import redact
from tests.each import each
from tests.redaction.test_redaction import pairs

OPTIONS = r"""
openssl enc -aes-256-cbc -k Purpl3Rain
    openssl enc -aes-256-cbc -k [redacted:password]
openssl aes-256-cbc -d -k Purpl3Rain -in a.enc
    openssl aes-256-cbc -d -k [redacted:password] -in a.enc
mosquitto_pub -u iot -P Purpl3Rain
    mosquitto_pub -u iot -P [redacted:password]
mosquitto_sub -h mqtt.example.org -u iot -P Purpl3Rain -t '#'
    mosquitto_sub -h mqtt.example.org -u iot -P [redacted:password] -t '#'
mysql -pSECRET
    mysql -p[redacted:password]
mysql -pS3cret shop
    mysql -p[redacted:password] shop
mysql -uroot -pS3cret
    mysql -uroot -p[redacted:password]
mysql -uroot -pswordfish -h db
    mysql -uroot -p[redacted:password] -h db
mysql -u root -p'swordfish' shop
    mysql -u root -p'[redacted:password]' shop
mysqldump -hdb -uroot -pswordfish shop > dump.sql
    mysqldump -hdb -uroot -p[redacted:password] shop > dump.sql
mysqladmin -pswordfish ping
    mysqladmin -p[redacted:password] ping
mariadb -uapp -pKn0b1auch
    mariadb -uapp -p[redacted:password]
mariadb-dump -uapp -pKn0b1auch shop
    mariadb-dump -uapp -p[redacted:password] shop
docker exec -it db mysql -uroot -ptoor
    docker exec -it db mysql -uroot -p[redacted:password]
/usr/bin/mysql -pswordfish
    /usr/bin/mysql -p[redacted:password]
Connect with -uroot -pS3cret
    Connect with -uroot -p[redacted:password]
run it with `-uadmin -pswordfish` once
    run it with `-uadmin -p[redacted:password]` once
-u root -pS3cret
    -u root -p[redacted:password]
curl -uname:pass https://x
    curl -uname:[redacted:password] https://x
curl -sSf -uadmin:swordfish https://x
    curl -sSf -uadmin:[redacted:password] https://x
curl -su admin:swordfish https://x
    curl -su admin:[redacted:password] https://x
curl -uadmin:'swordfish' https://x
    curl -uadmin:'[redacted:password]' https://x
sshpass -pX9y8 ssh bob@host
    sshpass -p[redacted:password] ssh bob@host
sshpass -pswordfish scp a b:/tmp
    sshpass -p[redacted:password] scp a b:/tmp
sshpass -p'swordfish' ssh host
    sshpass -p'[redacted:password]' ssh host
PGPASSWORD=swordfish psql -h db -Uapp
    PGPASSWORD=[redacted:password] psql -h db -Uapp
psql -h db -U app PGPASSWORD=S3cret
    psql -h db -U app PGPASSWORD=[redacted:password]
redis-cli -aSECRET ping
    redis-cli -a[redacted:password] ping
redis-cli -h cache -aS3cret ping
    redis-cli -h cache -a[redacted:password] ping
mongo -uadmin -pswordfish
    mongo -uadmin -p[redacted:password]
mongosh -u admin -pswordfish shop
    mongosh -u admin -p[redacted:password] shop
mongodump -pswordfish --db shop
    mongodump -p[redacted:password] --db shop
docker login -ubob -pswordfish registry.example.com
    docker login -ubob -p[redacted:password] registry.example.com
7z a -pswordfish a.7z x
    7z a -p[redacted:password] a.7z x
7za x -pswordfish a.7z
    7za x -p[redacted:password] a.7z
unzip -Pswordfish a.zip
    unzip -P[redacted:password] a.zip
sqlcmd -S db -Usa -PS3cret
    sqlcmd -S db -Usa -P[redacted:password]
rar a -hpswordfish a.rar x
    rar a -hp[redacted:password] a.rar x
ldapsearch -D cn=admin -wswordfish
    ldapsearch -D cn=admin -w[redacted:password]
MYSQL -pSECRET
    MYSQL -p[redacted:password]
mysql.exe -pSECRET
    mysql.exe -p[redacted:password]
"C:\Program Files\MySQL\bin\mysql.exe" -uroot -pswordfish
    "C:\Program Files\MySQL\bin\mysql.exe" -uroot -p[redacted:password]
MYSQLDUMP.EXE -pswordfish shop
    MYSQLDUMP.EXE -p[redacted:password] shop
mysql -vpSECRET
    mysql -vp[redacted:password]
mysql -h db -vvvpswordfish shop
    mysql -h db -vvvp[redacted:password] shop
MariaDB -NBpswordfish
    MariaDB -NBp[redacted:password]
mysqldump shop users orders -pswordfish
    mysqldump shop users orders -p[redacted:password]
mysql -e "select id from users; show tables" -pswordfish
    mysql -e "select id from users; show tables" -p[redacted:password]
mysql -h db \↵  -pswordfish shop
    mysql -h db \↵  -p[redacted:password] shop
mysql -u root -p S3cret99 shop
    mysql -u root -p [redacted:password] shop
SSHPASS -pswordfish ssh host
    SSHPASS -p[redacted:password] ssh host
sqlcmd.exe -S db -Usa -PS3cret
    sqlcmd.exe -S db -Usa -P[redacted:password]
bcp shop.users out users.csv -Usa -PS3cret
    bcp shop.users out users.csv -Usa -P[redacted:password]
7z.exe a -pswordfish a.7z x
    7z.exe a -p[redacted:password] a.7z x
podman login -u bob -p swordfish quay.io
    podman login -u bob -p [redacted:password] quay.io
az login -u bob -p swordfish
    az login -u bob -p [redacted:password]
az acr login -n shop -u bob -p swordfish
    az acr login -n shop -u bob -p [redacted:password]
oc login https://api.example.com:6443 -u bob -p swordfish
    oc login https://api.example.com:6443 -u bob -p [redacted:password]
helm registry login -u bob -p swordfish registry.example.com
    helm registry login -u bob -p [redacted:password] registry.example.com
mongosh "mongodb://db/shop?tls=true&w=1" -u admin -p swordfish
    mongosh "mongodb://db/shop?tls=true&w=1" -u admin -p [redacted:password]
"""
NO_OPTIONS = r"""
openssl enc -aes-256-cbc -k "$PASS" -in a
openssl enc -aes-256-cbc -kfile secret.txt -in a
openssl enc -aes-256-cbc -pbkdf2 -in a -out b
openssl req -new -key server.pem
openssl rand -hex 32
mosquitto_pub -p 1883 -u iot -P "$MQTT_PASS"
mosquitto_pub -h localhost -t topic -m hello
mysql -pipeline mode
mysql -pipelines
docker run -p8080:80 app
docker run -p 8080:80 app
docker run -u1000 -p8080:80 app
docker run -u1000:1000 -p127.0.0.1:8080:80 app
docker run --name mysql -p3306:3306 mysql:8
docker run --name mongo -p27017:27017 mongo
docker run -p6379:6379 redis
podman run -uroot -p8443:443/tcp app
ssh -p2222 host
ssh -p22 bob@host
sshpass -p$PASSWORD ssh host
sshpass -e ssh host
scp -P2222 a b:/tmp
mkdir -p docs/decisions
mkdir -pv a/b/c
cp -pR a b
cp -a src dst
tar -pxf a.tar
tar -pxzf a.tar.gz
tar -uf a.tar -pxf b
python -u -python
mysql -u root -p
mysql -uroot -p shop
mysql -uroot -p$MYSQL_PASSWORD
mysql -uroot -p"$MYSQL_PASSWORD" shop
mysql -uroot -p${PASSWORD}
mysql -uroot -P3306 -p
mysql -uroot -p<password>
mysql -p******
psql -Upostgres -p5433
psql -h db -U app -p5432 shop
PGPASSWORD=$SECRET psql -h db
PGPASSWORD=${PGPASSWORD} psql
curl -u user https://x
curl -uname https://x
curl -uname:$PASS https://x
curl -uUSER:PASSWORD https://x
redis-cli -a $REDIS_PASSWORD ping
redis-cli -p6380 ping
redis-cli --askpass
mongosh --port 27017 -u admin -p
nmap -p22,80,443 host
nc -u -p53 host
rsync -avzP a b
ls -latr
git log -p -u
grep -python
pip install -Upip
docker compose -pshop up
pytest -ppandas
patch -p1 < a.patch
sqlcmd -S db -E
unzip -p a.zip x
7z a -p a.7z
rar a -hp a.rar x
ldapsearch -x -W
-u and -p are options
the options -u USER and -p PORT
sort -u -parallel
login and mkdir -p docs
login with -pedantic flag
login via pytest -pno:cacheprovider
login page: mkdir -p src/pages
add a login, then git log -patch
docker login with the -p flag
docker login -p is insecure
docker login; mkdir -p data
docker login && mkdir -p data
mysql client built with gcc -pthread
mysql and mkdir -pv data
MySQL: compile with -pthread -pipe
mysql dann mkdir -pv data
mysql et pytest -pno:cacheprovider
mysql y luego cp -pRv a b
run mysql, then find . -path ./x -prune
mongodb driver compiled with -pedantic
mongo and mkdir -p docs
mongodb needs mkdir -p /data/db
mysql gcc -pthread
mysql.exe --print-defaults
mysql --protocol=tcp --port=3306
mysql -vvp
mysql -hdb -vp shop
mysql -help
MYSQL -P3306
redis-cli in Docker, cp -archive a b
zip and unzip need -P for passwords
sshpass is used with -p or -e
"""


@each(("text", "recorded"), pairs(OPTIONS))
def test_a_password_that_is_glued_to_its_option_goes(text: str, recorded: str) -> None:
    assert redact(text).text == recorded
    assert redact(recorded) == (recorded, ())


@each("text", NO_OPTIONS.strip("\n").split("\n"))
def test_another_option_stays(text: str) -> None:
    assert redact(text) == (text, ())


def test_options_have_as_many_innocents_as_positives() -> None:
    assert len(pairs(OPTIONS)) >= 25
    assert len(NO_OPTIONS.strip("\n").split("\n")) >= len(pairs(OPTIONS))


@pytest.mark.parametrize(
    "unit",
    [
        *("mysql ", "mysql -p ", " -p", " -u a", "-u a -p ", "redis-cli -- ", "curl -u ", "rar "),
        *("mysql a ", "mysql '", 'mysql "a', "mysql \\\n", "mysql.", "mysql -v", "docker login "),
    ],
)
def test_a_long_text_of_options_without_values_stays(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    assert redact(text) == (text, ())
