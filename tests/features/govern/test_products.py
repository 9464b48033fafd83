"""Which option a module, a package or an image is: by its own name, and by the table of names."""

from __future__ import annotations

from preflights_es.features.govern.domain.imports import Kind, UsedName
from preflights_es.features.govern.domain.products import find_option_use
from tests.each import each

ARE = (
    ("GraphQL", "graphene", "module"),
    ("LaunchDarkly", "ldclient", "module"),
    ("Kafka (MSK)", "org.apache.kafka.clients.Producer", "jvm"),
    ("Redis", "django-redis", "package"),
    ("Redis", "org.springframework.data.redis.core.X", "jvm"),
    ("MySQL", "sqlx::mysql::MySqlPool", "module"),
    ("MongoDB", "@nestjs/mongoose", "npm"),
    ("NestJS", "@nestjs/mongoose", "npm"),
    ("MySQL 8", "registry.example.com/x/mysql:8.4", "image"),
    ("SQL Server", "mcr.microsoft.com/mssql/server:2022", "image"),
    ("Socket.IO", "socketio", "module"),
    ("Echo", "github.com/labstack/echo/v4", "address"),
    ("Jest", "ts-jest", "npm"),
    ("Angular", "@angular/core", "npm"),
    ("Lodash", "@types/lodash", "npm"),
    ("Google Pub/Sub", "google.cloud.pubsub_v1", "module"),
    ("Bun", "oven-sh/setup-bun", "package"),
    ("npm", "npm", "tool"),
    ("OpenAI API", "openai.OpenAI", "module"),
    ("AWS Cognito", "amazon-cognito-identity-js", "npm"),
    ("MySQL", "gorm.io/driver/mysql", "address"),
    ("NATS", "github.com/nats-io/nats.go", "address"),
    ("MongoDB", ":spring-boot-starter-data-mongodb", "jvm"),
    ("Redis", "org.springframework.boot:spring-boot-starter-data-redis", "jvm"),
    ("Prettier", "pre-commit/mirrors-prettier", "package"),
    ("Redux", "redux-persist", "npm"),
    ("Webpack", "babel-loader", "npm"),
    ("Babel", "babel-loader", "npm"),
    ("Babel", "@babel/preset-env", "npm"),
    ("XState", "@xstate/react", "npm"),
    ("Json.NET", "Newtonsoft.Json", "module"),
    ("SendGrid", "com.sendgrid.SendGrid", "jvm"),
    ("Spring Data JPA", ":spring-boot-starter-data-jpa", "jvm"),
    ("Go kit", "github.com/go-kit/kit/log", "address"),
    ("Temporal", "temporalio/auto-setup:1", "image"),
    ("bcrypt", "bcryptjs", "npm"),
)
ARE_NOT = (
    ("React", "React Native", "react-native-config", "npm"),
    ("Redux", "Redux Toolkit", "@reduxjs/toolkit", "npm"),
    ("Redis", "", "@shop/redis", "npm"),
    ("npm", "", "npm-run-all", "npm"),
    ("Spring Boot", "", "react-spring", "npm"),
    ("Session", "", "express-session", "npm"),
    ("Kafka", "", "kafkaesque", "module"),
    ("Express", "", "app.express", "module"),
    ("MongoDB", "", "github.com/ourorg/shop/mongodb", "address"),
    ("Query", "", "com.shop.Query", "jvm"),
    ("Java", "", "java.util.Locale", "jvm"),
    ("System", "", "System.Linq", "module"),
    ("WebSocket", "Socket.IO", "socket.io", "npm"),
    ("JSON", "", "orjson", "module"),
    ("In memory", "", "memory", "module"),
    ("Kafka", "", "com.acme:shop-kafka-events", "jvm"),
    ("Kafka", "", ":shop-kafka-events", "jvm"),
    ("Kafka", "", "ghcr.io/acme/orders-kafka:1", "image"),
    ("Redis", "", "github.com/acme/shop-redis-tools", "address"),
)


@each(("option", "name", "kind"), ARE)
def test_an_option_is_what_it_is_imported_by(option: str, name: str, kind: Kind) -> None:
    assert find_option_use(option, [UsedName(name, kind)], ["Something"])


@each(("option", "chosen", "name", "kind"), ARE_NOT)
def test_an_option_is_not_its_namesake(option: str, chosen: str, name: str, kind: Kind) -> None:
    assert find_option_use(option, [UsedName(name, kind)], [chosen]) is None
