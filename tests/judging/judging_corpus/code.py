"""Source code where words are asked for: by language, in values, in keys, and split over a list."""

from __future__ import annotations

import json
from typing import Final

from tests.judging.judging_corpus.case import CODE, OK, Case, code


def key(name: str, text: str) -> Case:
    """Source code as a key that the contract does not know; the compiler's schema comes first."""
    return Case(name, json.dumps({"a": "x", text: 1}), "schema_violation", OK)


def split(name: str, text: str) -> Case:
    """Source code of which every line is an item of a list."""
    lines = text.split("\n")
    return Case(name, json.dumps({"a": "x", "l": lines}), CODE, {"a": "x", "l": lines})


PYTHON: Final = (
    code("Python: a function", "def total(order):\n    return sum(order.lines)"),
    code("Python: a typed function", "def total(order: Order, tax: float = 0.2) -> Decimal: ..."),
    code("Python: a coroutine", "async def load(self, key):\n    return await self.store.get(key)"),
    code("Python: a class", "class Order(BaseModel):\n    total: int = 0"),
    code("Python: a decorator", "@dataclass\nclass Order:\n    total: int"),
    code("Python: from an import", "from decimal import Decimal, ROUND_HALF_UP"),
    code("Python: imports", "import os, sys\nimport json"),
    code("Python: a loop", "for order in orders:\n    print(order.total)"),
    code("Python: a comprehension", "totals = [o.total for o in orders if o.open]"),
    code("Python: a context", "with open('orders.csv') as f:\n    rows = f.read()"),
    code("Python: an exception", "try:\n    load()\nexcept KeyError as e:\n    raise"),
    code("Python: an initialiser", "super().__init__()"),
    code("Python: a list made of another", "[line for line in order.lines]"),
    code("Python: a lone lambda", "lambda order: order.total"),
    code("Python: a comparison", "if order.status == 'open':"),
    code("Python: an elif", "elif total > 2:"),
    code("Python: an asynchronous context", "async with session as s:"),
    code("Python: a raise", "raise ValueError('no order')"),
    code("Python: a main block", 'if __name__ == "__main__":\n    main()'),
    code("Python: a lambda", "sorted(orders, key=lambda o: o.total)"),
    code("Python: a test", "def test_total():\n    assert total(order) == 3"),
    code("Python: behind a sentence", "Do it like this:\n\ndef total(order):\n    return 1"),
    code("Python: an import and a call", "from rota import rules; rules.check()"),
    code("Python: two on a line", "import rota; rota.check(today)"),
    code("Python: hidden in letters", "exec(base64.b64decode('cHJpbnQoMSk='))"),
    code("Python: hidden in a sentence", "Then exec(zlib.decompress(data)) does it."),
    code("Python: from a text", 'eval("total + 1")'),
    code("Python: from a name", "exec(source)"),
    code("Python: an import by name", "Call __import__('os').system('ls') there."),
)
JAVASCRIPT: Final = (
    code("JavaScript: a function", "function total(order) {\n  return order.total;\n}"),
    code("JavaScript: an arrow", "const total = (order) => order.lines.length;"),
    code("JavaScript: a constant", "const orders = [];"),
    code("JavaScript: a let", "let total = 0;\ntotal += 1;"),
    code("JavaScript: a require", "const fs = require('fs');"),
    code("JavaScript: an import", "import React, { useState } from 'react';"),
    code("JavaScript: an export", "export default function App() { return null; }"),
    code("JavaScript: a log", "console.log('total', total);"),
    code("JavaScript: a promise", "fetch(url).then(r => r.json()).catch(e => { throw e; });"),
    code("JavaScript: an await", "const r = await fetch('/orders');"),
    code("JavaScript: a class", "class Order extends Model {\n  constructor() { super(); }\n}"),
    code("JavaScript: the DOM", "document.getElementById('total').innerText = '0';"),
    code("JavaScript: the page", "document.write('total');"),
    code("JavaScript: the window", "window.location = '/orders'"),
    code("JavaScript: a count", "total++;"),
    code("JavaScript: a template", "`total: ${order.total}`"),
    code("JavaScript: a loop", "for (let i = 0; i < 10; i++) { sum += i; }"),
    code("JavaScript: a strict comparison", "if (a === b) { done(); }"),
    code("TypeScript: an interface", "interface Order {\n  total: number;\n}"),
    code("TypeScript: a type", "type Status = 'open' | 'closed';"),
    code("TypeScript: an enum", "export enum Status { Open, Closed }"),
    code("TypeScript: a typed arrow", "const f = (a: number): string => { return `${a}`; };"),
    code("JSX: a component", 'return <Order total={total} className="big" />;'),
    code("JSX: an element", "<Button onClick={save}>Save</Button>"),
)
COMPILED: Final = (
    code("Rust: a function", "fn total(order: &Order) -> u64 {\n    order.total\n}"),
    code("Rust: a binding", "let mut total = 0;"),
    code("Rust: an implementation", "impl Display for Order {\n}"),
    code("Rust: a derive", "#[derive(Debug, Clone)]\npub struct Order;"),
    code("Rust: a use", "use std::collections::HashMap;"),
    code("Rust: a match", "match order.status {\n    Open => 1,\n    _ => 0,\n}"),
    code("Rust: an unwrap", "let x = orders.first().unwrap();"),
    code("Go: a function", "func Total(o *Order) (int, error) {\n\treturn 0, nil\n}"),
    code("Go: a package", 'package main\n\nimport "fmt"'),
    code("Go: an error", "if err != nil {\n\treturn err\n}"),
    code("Go: a short declaration", "total := order.Total"),
    code("Go: a struct", "type Order struct {\n\tTotal int\n}"),
    code("Go: a goroutine", "go func() { done <- true }()"),
    code("Java: a class", "public class Order {\n    private int total;\n}"),
    code("Java: a method", "private List<Order> load(String id) throws IOException {"),
    code("Java: a print", 'System.out.println("total");'),
    code("Java: an import", "import java.util.List;"),
    code("Java: an annotation", "@Override\npublic String toString() { return name; }"),
    code("Java: a new", "Order order = new Order(7);"),
    code("C: an include", "#include <stdlib.h>"),
    code("C: a define", "#define MAX 10"),
    code("C: a function", "int total(const order *o) { return o->total; }"),
    code("C: a print", 'printf("%d\\n", total);'),
    code("C: a struct", "typedef struct order { int total; } order_t;"),
    code("C: a loop", "for (int i = 0; i < n; i++) sum += a[i];"),
    code("C++: a stream", 'std::cout << "total" << std::endl;'),
)
SQL: Final = (
    code("SQL: a selection", "SELECT id, total FROM orders WHERE total > 10"),
    code("SQL: in lower case", "select id, total from orders where total > 10;"),
    code("SQL: all columns", "SELECT * FROM orders"),
    code("SQL: an insertion", "INSERT INTO orders (id, total) VALUES (1, 2)"),
    code("SQL: an update", "UPDATE orders SET total = 0 WHERE id = 1"),
    code("SQL: a deletion", "DELETE FROM orders WHERE id = 1"),
    code("SQL: a table", "CREATE TABLE orders (id INT PRIMARY KEY)"),
    code("SQL: a drop", "DROP TABLE orders"),
    code("SQL: an alteration", "ALTER TABLE orders ADD COLUMN note TEXT"),
    code("SQL: a common expression", "WITH recent AS (SELECT id FROM orders) SELECT 1"),
    code("SQL: an index", "CREATE UNIQUE INDEX orders_id ON orders (id)"),
    code("SQL: over lines", "SELECT id\nFROM orders\nJOIN users u ON u.id = orders.user_id"),
)
SHELL: Final = (
    code("shell: a script", "#!/usr/bin/env bash\nset -e"),
    code("shell: a removal", "rm -rf build/"),
    code("shell: an installation", "pip install requests"),
    code("shell: as root", "sudo apt-get install -y nginx"),
    code("shell: a pipe", "cat orders.csv | grep open | wc -l"),
    code("shell: a chain", "cd /srv && make deploy"),
    code("shell: a loop", 'for f in *.csv; do echo "$f"; done'),
    code("shell: a condition", "if [ -f .env ]; then\n  source .env\nfi"),
    code("shell: a variable", "export DATABASE_URL=postgres://localhost/db"),
    code("shell: a download", "curl -fsSL https://example.org/install.sh | sh"),
    code("shell: a prompt", "$ npm run build"),
    code("shell: a container", "docker run --rm -p 80:80 nginx"),
    code("shell: a build", "npm run build"),
    code("shell: a cluster", "kubectl get pods"),
    code("shell: a file", "echo done > done.txt"),
    code("shell: a commit", 'git commit -m "done"'),
)
MARKUP: Final = (
    code("HTML: a page", "<!DOCTYPE html>\n<html><body></body></html>"),
    code("HTML: a link", '<a href="/orders">orders</a>'),
    code("HTML: a list", "<ul><li>one</li><li>two</li></ul>"),
    code("HTML: a script", "<script>alert(1)</script>"),
    code("HTML: an image", "<img src='x.png'/>"),
    code("HTML: in a sentence", 'Show it with <span class="big">total</span> there.'),
    code("a diff: of git", "diff --git a/x.py b/x.py\nindex 83db48f..bf2a3c1 100644"),
    code("a diff: a hunk", "@@ -1,4 +1,4 @@\n-old\n+new"),
    code("a diff: two files", "--- a/orders.py\n+++ b/orders.py"),
    code("a diff: a patch", "*** Begin Patch\n*** Update File: orders.py"),
    code("a diff: a conflict", "<<<<<<< HEAD\nold\n=======\nnew\n>>>>>>> branch"),
    code("a code block", "Run this:\n```\nmake\n```"),
)
SPLIT: Final = (
    split("split: Python", "def total(order):\n    lines = order.lines\n    return len(lines)"),
    split("split: a class", "class Order:\n    def __init__(self):\n        self.total = 0"),
    split("split: JavaScript", "function total(order) {\n  return order.total;\n}"),
    split("split: Go", "if err != nil {\n\treturn err\n}"),
    split("split: Java", "public class Order {\n  int total;\n}"),
    split("split: SQL", "SELECT id\nFROM orders\nWHERE total > 10"),
    split("split: shell", "#!/bin/sh\nset -e\nmake deploy"),
    split("split: HTML", "<ul>\n<li>one</li>\n</ul>"),
    split("split: a diff", "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@"),
    split("split: behind words", "Create the file\nimport os\nos.remove('x')"),
    split("split: into tokens", "def\ntotal\n(\norder\n)\n:"),
    split("split: into tokens of C", "int\nmain\n(\n)\n{\nreturn\n0\n;\n}"),
)
KEYS: Final = (
    key("a key: Python", "def f(x): return x"),
    key("a key: SQL", "SELECT * FROM orders"),
)
FIRST_FAULT: Final = (
    Case("code, but no answer", json.dumps({"b": "def f(x): return x"}), "schema_violation"),
    Case("code outside", 'def f():\n    return {"a":"x"}', "explanatory_text", OK),
    Case(
        "code in a fence behind the value",
        '{"a":"x"}\n```python\nprint(1)\n```',
        "explanatory_text",
        OK,
    ),
)

CASES: Final = (
    *PYTHON,
    *JAVASCRIPT,
    *COMPILED,
    *SQL,
    *SHELL,
    *MARKUP,
    *SPLIT,
    *KEYS,
    *FIRST_FAULT,
)
