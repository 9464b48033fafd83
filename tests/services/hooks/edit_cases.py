"""Edits that contradict a decision, and edits that contradict none, as agents make them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Decided(NamedTuple):
    """A decision in force: its topic, and its options, the chosen one first."""

    topic: str
    options: tuple[str, ...]


DECISIONS: Final = (
    Decided("Database", ("PostgreSQL", "MySQL", "MongoDB", "SQLite")),
    Decided("Frontend", ("Vue", "React", "Svelte")),
    Decided("API style", ("GraphQL", "REST", "gRPC")),
    Decided("Login", ("OAuth", "JWT", "Email/Password", "Magic Link")),
    Decided("Cache", ("Redis", "Memcached", "In-process memory", "HTTP cache")),
    Decided("Broker", ("RabbitMQ", "Kafka", "NATS", "Redis")),
    Decided("CI", ("GitHub Actions", "GitLab CI", "Jenkins")),
    Decided("Payments", ("Stripe", "PayPal", "Mollie")),
    Decided("Containers", ("Docker Compose", "Kubernetes", "No containers")),
    Decided("Pagination", ("Offset and limit", "Cursor", "Page numbers")),
    Decided("API versions", ("Header", "URL path", "No versions, only additions")),
    Decided("Rendering", ("Server-side (SSR)", "Static (SSG)", "Client-side (CSR)")),
    Decided("Errors", ("Result values", "Exceptions", "Retries")),
    Decided("Validation", ("Schema library", "At the API border", "In the database")),
    Decided("Language", ("Python", "JavaScript", "Go", "Java")),
    Decided("Packages", ("pnpm", "npm", "Yarn")),
    Decided("Tests", ("Vitest", "Jest", "Cypress")),
    Decided("Theme", ("Dark Mode", "Light Mode", "System")),
    Decided("Sync", ("Batch", "Streaming", "Polling")),
    Decided("Store", ("Pinia", "Redux", "Zustand")),
    Decided("HTTP client", ("httpx", "requests", "aiohttp")),
    Decided("Dates", ("date-fns", "Moment.js", "Luxon")),
    Decided("Sockets", ("ws", "Socket.IO", "SockJS")),
    Decided("Styles", ("Tailwind CSS", "Bootstrap", "Sass")),
    Decided("Widgets", ("Lit", "Angular", "Stencil")),
    Decided("Error tracking", ("Sentry", "Rollbar")),
    Decided("Grid", ("Ignite", "Hazelcast")),
    Decided("JVM", ("Ktor", "Micronaut")),
    Decided("Bundler", ("Vite", "webpack", "Parcel")),
    Decided("Sums", ("Result", "Panics", "Query", "Session", "Offset", "Light")),
)


def edit(path: str, new: str, old: str = "") -> dict[str, Any]:
    """A call of Edit, as Claude Code tells of it."""
    said = {"file_path": path, "old_string": old, "new_string": new}
    return {"tool_name": "Edit", "tool_input": said}


def write(path: str, content: str) -> dict[str, Any]:
    """A call of Write."""
    return {"tool_name": "Write", "tool_input": {"file_path": path, "content": content}}


def patch(path: str, *lines: str) -> dict[str, Any]:
    """A call of apply_patch, as Codex tells of it."""
    text = "\n".join(("*** Begin Patch", f"*** Update File: {path}", *lines, "*** End Patch"))
    return {"tool_name": "apply_patch", "tool_input": {"command": text}}


TRUE: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("MySQL", edit("app/db.py", "import mysql.connector")),
    ("MySQL", edit("app/settings.py", 'URL = "mysql://shop@db/orders"')),
    ("MySQL", write("app/db.py", "import pymysql\n\nengine = pymysql.connect()\n")),
    ("MySQL", edit("package.json", '    "mysql2": "^3.11.0",')),
    ("MySQL", edit("compose.yaml", "    image: mysql:8.4")),
    ("MongoDB", edit("app/db.py", "from pymongo import MongoClient")),
    ("MongoDB", edit("src/orders.ts", 'import mongoose from "mongoose";')),
    ("MongoDB", edit(".env.example", "MONGODB_URI=mongodb://localhost:27017")),
    ("MongoDB", patch("app/db.py", "@@", "-import psycopg", "+from motor import aio")),
    ("SQLite", edit("app/db.py", "import sqlite3")),
    ("SQLite", edit("app/settings.py", 'ENGINE = "sqlite:///orders.db"')),
    ("React", edit("src/App.tsx", 'import React from "react";')),
    ("React", edit("package.json", '    "react": "^18.3.1",')),
    ("Svelte", edit("src/main.js", 'import { mount } from "svelte";')),
    ("Svelte", patch("vite.config.js", "+import svelte from 'vite-plugin-svelte';")),
    ("gRPC", edit("app/api.py", "import grpc")),
    ("gRPC", edit("app/api.py", "server = grpc.server(pool)")),
    ("JWT", edit("app/login.py", "import jwt")),
    ("JWT", edit("package.json", '    "jsonwebtoken": "^9.0.2",')),
    ("Memcached", edit("app/cache.py", "from pymemcache import Memcached")),
    ("Memcached", edit("compose.yaml", "    image: memcached:1.6")),
    ("Kafka", edit("app/events.py", "from kafka import KafkaProducer")),
    ("Kafka", edit("requirements.in", "kafka-python==2.0.2")),
    ("Kafka", edit("src/events.ts", 'const { Kafka } = require("kafkajs");')),
    ("NATS", edit("app/events.py", "import nats")),
    ("GitLab CI", edit("scripts/ci.sh", 'echo "runs on GitLab CI"')),
    ("Jenkins", edit("scripts/ci.sh", "curl -X POST $JENKINS/jenkins/job/build")),
    ("PayPal", edit("app/pay.py", "import paypal")),
    ("PayPal", edit("app/pay.py", "client = PayPal(client_id, secret)")),
    ("Mollie", edit("package.json", '    "@mollie/api-client": "^4.0.0",')),
    ("Mollie", edit("app/pay.py", "from mollie.api.client import Client")),
    ("Kubernetes", edit("deploy/apply.py", "from kubernetes import client, config")),
    ("npm", edit("Dockerfile", "RUN npm ci --omit=dev")),
    ("Yarn", edit("Makefile", "\tyarn install --frozen-lockfile")),
    ("Jest", edit("package.json", '    "jest": "^29.7.0",')),
    ("Jest", edit("jest.config.ts", 'import type { Config } from "jest";')),
    ("Cypress", edit("package.json", '    "cypress": "13.15.0",')),
    ("Redux", edit("src/store.ts", 'import { createStore } from "redux";')),
    ("Zustand", edit("src/store.ts", 'import { create } from "zustand";')),
    ("requests", edit("app/client.py", "import requests\n\nrequests.get(URL)")),
    ("requests", edit("requirements.txt", "requests")),
    ("aiohttp", edit("pyproject.toml", '  "aiohttp>=3.9",')),
    ("Kafka", edit("requirements.txt", "kafka-python==2.0.2", "pika==1.3")),
    ("NATS", edit("go.mod", "require github.com/nats-io/nats.go v1.37.0")),
    ("MySQL", edit("app/settings.py", "URL = 'mysql+pymysql://shop@db/orders'")),
    ("Moment.js", edit("web/date.ts", "import moment from 'moment';")),
    ("Luxon", edit("web/date.ts", "import { DateTime } from 'luxon';")),
    ("Socket.IO", edit("src/ws.ts", "import { Server } from 'socket.io';")),
    ("SockJS", edit("package.json", '    "sockjs": "^0.3.0",')),
    (
        "Bootstrap",
        edit("web/index.html", '<link href="https://x.y/bootstrap@5/a.css" rel="stylesheet">'),
    ),
    ("PayPal", edit("web/pay.html", '<script src="https://www.paypal.com/sdk/js"></script>')),
    ("Angular", edit("web/cart.ts", "import { Component } from '@angular/core';")),
    ("Rollbar", edit("Program.cs", "using Rollbar;")),
    ("Hazelcast", edit("build.gradle.kts", 'implementation("com.hazelcast:hazelcast:5.4.0")')),
    ("Micronaut", edit("pom.xml", "  <groupId>io.micronaut</groupId>")),
    ("webpack", write("webpack.config.js", "module.exports = { entry: './a.js' };")),
    ("Parcel", edit("package.json", '    "parcel": "^2.12.0",')),
    (
        "MySQL",
        {
            "tool_name": "MultiEdit",
            "tool_input": {
                "file_path": "app/db.py",
                "edits": [
                    {"old_string": "x", "new_string": "y"},
                    {"old_string": "a", "new_string": "import mysql"},
                ],
            },
        },
    ),
    (
        "MySQL",
        {
            "tool_name": "write_file",
            "tool_input": {"file_path": "app/db.py", "content": "import mysql\n"},
        },
    ),
    (
        "MySQL",
        {
            "tool_name": "replace_string_in_file",
            "tool_input": {"filePath": "app/db.py", "oldString": "", "newString": "import mysql"},
        },
    ),
)
"""Pairs of the option that is named and the call of a tool."""

INNOCENT: Final[tuple[dict[str, Any], ...]] = (
    edit("app/db.py", "import psycopg"),
    edit("app/db.py", "# from MySQL to PostgreSQL in 2024"),
    edit("app/db.py", "connect()  # PostgreSQL, where MySQL was"),
    edit("app/db.py", 'engine = connect("postgresql://db")  # not mysql'),
    edit("app/db.py", 'import mysql.connector\nprint("x")', "import mysql.connector"),
    edit("app/db.py", "x = 2  # mysql", "x = 1  # mysql"),
    edit("app/import_old.py", "raise ValueError('MySQL is no longer read')"),
    edit("app/db.py", "cursor = connection.cursor()"),
    edit("app/db.py", "rows = cursor.fetchall()"),
    edit("app/errors.py", "from app import exceptions"),
    edit("app/errors.py", "class OrderError(Exception): ..."),
    edit("app/errors.py", "retries = 3"),
    edit("app/routes.py", "url_path = request.path"),
    edit("app/routes.py", "page_numbers = range(1, pages + 1)"),
    edit("app/main.css", ".page { position: static; }"),
    edit("app/main.py", "@staticmethod"),
    edit("app/main.py", "app.mount('/static', StaticFiles(directory='static'))"),
    edit("app/jobs.py", "for batch in batches: stream(batch, polling=True)"),
    edit("src/App.vue", "const { a, ...rest } = props;"),
    edit("src/App.vue", "  ...rest,"),
    edit("src/App.vue", "rest.push(one);"),
    edit("src/App.vue", "the rest of the order"),
    edit("src/next.ts", "export default function next() {}"),
    edit("src/App.vue", '<script type="text/javascript">'),
    edit("Makefile", "go: build"),
    edit("app/tools.py", "subprocess.run(['java', '-version'])"),
    edit("app/cache.py", "memory = {}"),
    edit("app/cache.py", "import redis"),
    edit("app/events.py", "import redis.asyncio"),
    edit("app/cache.py", "http_cache = True"),
    edit("app/login.py", "email, password = form['email'], form['password']"),
    edit("app/login.py", "token = secrets.token_urlsafe()"),
    edit("app/login.py", "header = request.headers['Authorization']"),
    edit("app/mail.py", "link = make_link(user)"),
    edit("app/theme.ts", "const lightMode = false;"),
    edit("app/theme.ts", "document.body.classList.add('light-mode')"),
    edit("package.json", '    "vue": "^3.5.0",'),
    edit("package.json", '    "vitest": "^2.1.0",'),
    edit("package.json", '    "type": "module",'),
    edit("pnpm-lock.yaml", "  mysql2@3.11.0:"),
    edit("uv.lock", 'name = "kafka-python"'),
    edit("go.sum", "github.com/go-sql-driver/mysql v1.8.1 h1:LedoTUt"),
    edit("docs/decisions/0001-use-postgresql.md", "* MySQL"),
    edit("README.md", "Works like Kafka, for people who know it."),
    edit("docs/compare.md", "| PostgreSQL | MySQL | MongoDB |"),
    edit("CHANGELOG.md", "- Orders move from MongoDB to PostgreSQL"),
    edit("tests/test_urls.py", 'assert parsed("mysql://db").scheme == "mysql"'),
    edit("src/app.test.ts", 'expect(driver("mongodb")).toBeNull();'),
    edit("tests/fixtures/old.json", '{"driver": "mysql"}'),
    edit("vendor/driver.js", 'module.exports = require("mysql");'),
    edit(".gitignore", "*.sqlite"),
    edit(".dockerignore", "npm-debug.log"),
    edit("scripts/migrate.sh", "echo 'migrating away from Jenkins'"),
    edit("scripts/check.sh", "npm --version || echo 'without npm, pnpm is used'"),
    edit("app/db.py", "removed = ['MySQL']"),
    edit("app/db.py", "if driver == 'mysql': raise NotImplementedError('not supported')"),
    edit("app/cloud.py", "header, body = split(message)"),
    edit("app/orders.py", "system = platform.system()"),
    edit("app/orders.py", "result_values = [one.value for one in results]"),
    edit("app/orders.py", "jwtx = arrest = reactor = kafkaesque = 1"),
    edit("app/orders.py", "def reaction(order): return order.native"),
    edit("src/graph.ts", "const schema = buildSchema(`type Query { rest: Int }`);"),
    edit("app/views.py", "def handle(request, requests): return requests.pop()"),
    edit("app/limits.py", "MAX_REQUESTS = 60\nrequests = Counter()"),
    edit("app/load.py", "from app.session import start\nfrom .query import run"),
    edit("app/http.py", "from sqlalchemy.orm import Session"),
    edit("app/s.py", "session = Session()\nquery = session.query(Order)"),
    edit("app/queue.py", "print('Data of the old MySQL dump was read')"),
    edit("app/yarn.py", "class Yarn:\n    colour: str\n\nyarn = Yarn('wool')"),
    edit("app/parcel.py", "class Parcel:\n    weight: int\n\nparcel = Parcel()"),
    edit("shop/wheel.py", "angular = omega * radius"),
    edit("src/main.ts", "import { bootstrap } from './bootstrap';\nawait bootstrap();"),
    edit("src/main.ts", "import session from '@/session';\nimport { Query } from '../query';"),
    edit("src/time.ts", "const moment = Date.now();\nshowFor(moment);"),
    edit("src/main.rs", "use crate::panics::hook;\nuse super::query;"),
    edit("src/A.java", "import com.shop.session.Query;\nimport java.util.Locale;"),
    edit("A.cs", "using System;\nusing Shop.Session;"),
    edit("main.go", 'import "github.com/ourorg/shop/query"'),
    edit("a.php", "use App\\Query;"),
    edit("pom.xml", "<artifactId>shop-session</artifactId>"),
    edit("build.gradle", 'implementation(project(":session"))'),
    edit("app.yml", "session: 30m\nquery: all\noffset: 3"),
    edit("texts.yml", "help: |\n  use query settings.\n  import session data\n  import light"),
    edit("conf.toml", 'session = "30m"\noffset = "1"'),
    edit("conf.json", '{"session": "30m", "offset": "10px", "query": "*"}'),
    edit("web/a.scss", "@import 'light';\n@use 'session';"),
    edit("web/index.html", "<p>Angular, Bootstrap and PayPal were here.</p>"),
    edit("web/index.html", '<link rel="canonical" href="https://shop.example.com/offset/">'),
    edit("list.sql", "SELECT id FROM session JOIN query LIMIT 20 OFFSET 40;"),
    edit("Dockerfile", "RUN pip install -r requirements.txt"),
    edit("knit.yml", "- yarn: wool\n- light: wood"),
    write("app/empty.py", ""),
    write(
        "app/orders.py",
        "from decimal import Decimal\n\n\ndef total(order):\n    return sum(order)\n",
    ),
    patch("app/db.py", "@@", "-import mysql", "+import psycopg", " x = 1"),
    patch("app/db.py", "@@", " import mysql", "+x = 1"),
    patch("app/db.py", "@@", "-import mysql  # old", "+import mysql  # older"),
    {"tool_name": "Bash", "tool_input": {"command": "mysql -u root"}},
    {"tool_name": "Read", "tool_input": {"file_path": "app/mysql.py"}},
    {"tool_name": "Edit", "tool_input": {"file_path": "app/db.py"}},
    {"tool_name": "Edit", "tool_input": None},
    {"tool_name": "Write", "tool_input": {"file_path": ["x"], "content": {"a": "mysql"}}},
)
"""Calls of tools that raise no question."""
