CREATE TABLE alembic_version (
version_num VARCHAR(32) NOT NULL,
CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)

CREATE TABLE heads (
session_id VARCHAR(36) NOT NULL,
project TEXT NOT NULL,
workflow TEXT NOT NULL,
version BIGINT NOT NULL,
head_hash BLOB NOT NULL,
PRIMARY KEY (session_id)
)

CREATE INDEX heads_by_project ON heads (project, session_id)

CREATE TABLE events (
session_id VARCHAR(36) NOT NULL,
version BIGINT NOT NULL,
input_id VARCHAR(100),
type TEXT NOT NULL,
recorded_at BIGINT NOT NULL,
actor_kind TEXT,
decider TEXT NOT NULL,
data TEXT,
salt BLOB,
digest BLOB NOT NULL,
hash BLOB NOT NULL,
PRIMARY KEY (session_id, version),
UNIQUE (input_id)
)

CREATE TABLE outbox (
session_id VARCHAR(36) NOT NULL,
version BIGINT NOT NULL,
PRIMARY KEY (session_id, version)
)

CREATE TABLE marks (
projection TEXT NOT NULL,
session_id VARCHAR(36) NOT NULL,
version BIGINT NOT NULL,
PRIMARY KEY (projection, session_id)
)

CREATE TABLE claims (
session_id VARCHAR(36) NOT NULL,
call VARCHAR(200) NOT NULL,
project TEXT NOT NULL,
owner TEXT NOT NULL,
until BIGINT NOT NULL,
PRIMARY KEY (session_id, call)
)

CREATE INDEX claims_by_project ON claims (project)

CREATE TABLE numbers (
project TEXT NOT NULL,
folder TEXT NOT NULL,
number BIGINT NOT NULL,
session_id VARCHAR(36) NOT NULL,
PRIMARY KEY (project, folder, number)
)

CREATE TABLE imported_documents (
session_id VARCHAR(36) NOT NULL,
call VARCHAR(200) NOT NULL,
PRIMARY KEY (session_id, call)
)

CREATE TABLE log (
id VARCHAR(32) NOT NULL,
PRIMARY KEY (id)
)

CREATE TABLE projections (
name VARCHAR(100) NOT NULL,
version BIGINT NOT NULL,
generation BIGINT NOT NULL,
complete BIGINT NOT NULL,
PRIMARY KEY (name)
)

CREATE TABLE projected_sessions (
session_id VARCHAR(36) NOT NULL,
project TEXT NOT NULL,
workflow TEXT NOT NULL,
status TEXT NOT NULL,
progress FLOAT,
turns BIGINT NOT NULL,
provider TEXT NOT NULL,
model TEXT NOT NULL,
fell_back TEXT NOT NULL,
intention TEXT NOT NULL,
version BIGINT NOT NULL,
began_at BIGINT NOT NULL,
moved_at BIGINT NOT NULL,
PRIMARY KEY (session_id)
)

CREATE TABLE projected_decisions (
session_id VARCHAR(36) NOT NULL,
version BIGINT NOT NULL,
project TEXT NOT NULL,
uid TEXT NOT NULL,
standing TEXT NOT NULL,
category TEXT NOT NULL,
accepted_at BIGINT,
superseded_at BIGINT,
decided TEXT NOT NULL,
PRIMARY KEY (session_id, version)
)

CREATE TABLE projected_usage (
session_id VARCHAR(36) NOT NULL,
version BIGINT NOT NULL,
project TEXT NOT NULL,
workflow TEXT NOT NULL,
call TEXT NOT NULL,
provider TEXT NOT NULL,
model TEXT NOT NULL,
prompt TEXT NOT NULL,
at BIGINT NOT NULL,
attempt BIGINT NOT NULL,
outcome TEXT NOT NULL,
judged TEXT NOT NULL,
fell_back BIGINT NOT NULL,
input_tokens BIGINT,
output_tokens BIGINT,
latency_ms BIGINT,
PRIMARY KEY (session_id, version)
)

CREATE TABLE projected_artifacts (
session_id VARCHAR(36) NOT NULL,
version BIGINT NOT NULL,
project TEXT NOT NULL,
id TEXT NOT NULL,
type TEXT NOT NULL,
standing TEXT NOT NULL,
created_at BIGINT NOT NULL,
"plan" TEXT NOT NULL,
PRIMARY KEY (session_id, version)
)

CREATE TABLE projected_items (
session_id VARCHAR(36) NOT NULL,
number BIGINT NOT NULL,
project TEXT NOT NULL,
type TEXT NOT NULL,
status TEXT NOT NULL,
title TEXT NOT NULL,
importance TEXT,
energy TEXT,
due TEXT,
duration_min BIGINT,
duration_max BIGINT,
start_time TEXT,
end_time TEXT,
noted_at TEXT NOT NULL,
began_at BIGINT NOT NULL,
version BIGINT NOT NULL,
hash TEXT NOT NULL,
source TEXT,
confidence FLOAT,
content TEXT,
decision TEXT,
record BIGINT,
date TEXT,
PRIMARY KEY (session_id, number)
)

CREATE TABLE projected_memory (
session_id VARCHAR(36) NOT NULL,
version BIGINT NOT NULL,
term TEXT NOT NULL,
project TEXT NOT NULL,
field BIGINT NOT NULL,
count BIGINT NOT NULL,
length BIGINT NOT NULL,
uid TEXT NOT NULL,
accepted_at BIGINT NOT NULL,
superseded_at BIGINT,
PRIMARY KEY (session_id, version, term)
)

CREATE INDEX projected_sessions_by_project ON projected_sessions (project, session_id, status, began_at, moved_at)

CREATE INDEX projected_decisions_by_project ON projected_decisions (project, session_id, version, accepted_at, superseded_at)

CREATE INDEX projected_usage_by_project ON projected_usage (project, session_id)

CREATE INDEX projected_artifacts_by_project ON projected_artifacts (project, session_id, version, standing)

CREATE INDEX projected_items_by_project ON projected_items (project, session_id)

CREATE INDEX projected_memory_by_project ON projected_memory (project, term, session_id, superseded_at)

CREATE TRIGGER events_are_kept BEFORE DELETE ON events
BEGIN
  SELECT RAISE(ABORT, 'events are never deleted');
END

CREATE TRIGGER events_are_immutable BEFORE UPDATE ON events
WHEN NOT (
  NEW.data IS NULL AND NEW.salt IS NULL AND NEW.rowid IS OLD.rowid
  AND NEW.session_id IS OLD.session_id AND NEW.version IS OLD.version
  AND NEW.input_id IS OLD.input_id AND NEW.type IS OLD.type
  AND NEW.recorded_at IS OLD.recorded_at AND NEW.actor_kind IS OLD.actor_kind
  AND NEW.decider IS OLD.decider AND NEW.digest IS OLD.digest AND NEW.hash IS OLD.hash
  AND EXISTS (
    SELECT 1 FROM events AS erasure
    WHERE erasure.session_id = OLD.session_id AND erasure.type = 'session.erased.v1'
  )
)
BEGIN
  SELECT RAISE(ABORT, 'events are never changed');
END

CREATE TRIGGER events_are_not_replaced BEFORE INSERT ON events
WHEN EXISTS (
  SELECT 1 FROM events AS old WHERE old.session_id = NEW.session_id AND old.version = NEW.version
) OR EXISTS (
  SELECT 1 FROM events AS old WHERE old.input_id = NEW.input_id
) OR EXISTS (
  SELECT 1 FROM events AS old WHERE old.rowid = NEW.rowid
)
BEGIN
  SELECT RAISE(ABORT, 'events are never replaced');
END

INSERT INTO alembic_version (version_num) VALUES ('log_1')
