"""Sixty files that people offer as documents: half of them are source or test files."""

from __future__ import annotations

from typing import Final

from tests.filed_cases import filed_cases

FILED = filed_cases(__file__)

PROSE: Final = (
    "# Orders\n\nCustomers put things into a basket, and order them.\n\n"
    "* An order without items is refused.\n* The total is shown before payment.\n"
)
PYTHON: Final = (
    "import os\n\nfrom orders import Basket\n\n\ndef total(basket: Basket) -> int:\n"
    "    return sum(item.price for item in basket.items)\n"
)
TEST: Final = (
    "import pytest\n\n\ndef test_an_empty_order_is_refused() -> None:\n"
    "    with pytest.raises(ValueError):\n        order([])\n"
)
JAVASCRIPT: Final = (
    "import { basket } from './basket.js';\n\nexport function total(items) {\n"
    "  return items.reduce((sum, item) => sum + item.price, 0);\n}\n"
)
SPEC: Final = (
    "describe('orders', () => {\n  it('refuses an empty order', () => {\n"
    "    expect(order([])).toBe(null);\n  });\n});\n"
)
JAVA: Final = (
    "package shop;\n\npublic class Order {\n    private int total;\n\n"
    "    public int getTotal() {\n        return total;\n    }\n}\n"
)
GO: Final = 'package main\n\nimport "fmt"\n\nfunc main() {\n\ttotal := 0\n\tfmt.Println(total)\n}\n'
RUST: Final = (
    "use std::fmt;\n\npub struct Order {\n    total: u32,\n}\n\nimpl Order {\n"
    "    pub fn total(&self) -> u32 {\n        self.total\n    }\n}\n"
)
C: Final = '#include <stdio.h>\n\nint main(void) {\n    printf("%d", 5);\n    return 0;\n}\n'
SQL: Final = (
    "CREATE TABLE orders (\n    id INTEGER PRIMARY KEY,\n    total INTEGER NOT NULL\n);\n\n"
    "SELECT id, total FROM orders WHERE total > 0;\n"
)
SHELL: Final = (
    'set -eu\n\nfor file in *.csv; do\n    cp "$file" "$HOME/orders/"\ndone\n\n'
    'export ORDERS="$HOME"\n'
)
RUBY: Final = (
    "class Order\n  def initialize(items)\n    @items = items\n  end\n\n"
    "  def total\n    @items.sum(&:price)\n  end\nend\n"
)
PHP: Final = "<?php\n\n$total = 0;\nforeach ($items as $item) {\n    $total += $item->price;\n}\n"
KOTLIN: Final = (
    "data class Order(val items: List<Item>)\n\nfun total(order: Order): Int {\n"
    "    val sum = order.items.sumOf { it.price }\n    return sum\n}\n"
)
LUA: Final = (
    "local total = 0\nfor _, item in ipairs(items) do\n  total = total + item.price\nend\n"
    "return total\n"
)
HTML: Final = (
    "<!DOCTYPE html>\n<html>\n<body>\n<h1>Orders</h1>\n<script>start()</script>\n</body>\n</html>\n"
)
DIFF: Final = (
    "diff --git a/orders.py b/orders.py\n--- a/orders.py\n+++ b/orders.py\n"
    "@@ -1,2 +1,2 @@\n-total = 0\n+total = 1\n"
)
LICENSED: Final = (
    "# Copyright the authors.\n#\n# Licensed under the Apache License, Version 2.0.\n"
    "# You may not use this file except in compliance with the License.\n#\n" + PYTHON
)
FENCED: Final = f"```python\n{PYTHON}```\n"

FORBIDDEN: Final[dict[str, tuple[str, str]]] = {
    "a source file": ("src/orders.py", PYTHON),
    "a suffix in capitals": ("SRC/ORDERS.PY", PYTHON),
    "a suffix of another language": ("src/orders.tsx", JAVASCRIPT),
    "a source file without content": ("src/__init__.py", ""),
    "prose under the suffix of a language": ("notes/orders.rs", PROSE),
    "a copy of a source file": ("orders.py.bak", PYTHON),
    "a copy as an editor makes it": ("orders.c~", C),
    "a build file": ("Makefile", "all:\n\tcc orders.c\n"),
    "an image's build file": ("deploy/Dockerfile", "FROM python:3.12\nRUN pip install orders\n"),
    "a test": ("tests/test_orders.py", TEST),
    "a test by its name alone": ("docs/test_orders.md", PROSE),
    "a test by the end of its name": ("docs/Orders_Test.txt", PROSE),
    "a test of JavaScript": ("web/orders.spec.ts", SPEC),
    "a specification that is run": ("web/orders.spec.md", PROSE),
    "a file in a folder of tests": ("src/__tests__/orders.txt", PROSE),
    "a script without a suffix": ("bin/orders", "#!/usr/bin/env python3\n\nstart()\n"),
    "a script that is called prose": ("orders.md", "\ufeff#!/bin/sh\n# Orders\n"),
    "Python that is called prose": ("orders.md", PYTHON),
    "Python behind a licence": ("orders.txt", LICENSED),
    "a test that is called prose": ("orders.md", TEST),
    "JavaScript that is called prose": ("orders.txt", JAVASCRIPT),
    "Java that is called prose": ("order", JAVA),
    "Go and Rust that are called prose": ("orders.rst", GO + RUST),
    "SQL that is called prose": ("orders.text", SQL),
    "a shell script without its first line": ("orders.md", SHELL),
    "Ruby that is called prose": ("orders.md", RUBY),
    "PHP and a page that are called prose": ("orders.md", PHP + HTML),
    "Kotlin and Lua that are called prose": ("orders.md", KOTLIN + LUA),
    "a difference that is called prose": ("orders.md", DIFF),
    "a source file in a fence and nothing else": ("orders.md", f"# Orders\n\n{FENCED}"),
}

LONG: Final = PROSE * 40
STEPS: Final = (
    "# Setting up\n\nInstall it with `pip install orders`, then run `orders --help`.\n\n"
    "1. Set `TOTAL=5` in the settings.\n2. Call `start()` and wait.\n3. import the users\n"
)
HTML_IN_PROSE: Final = (
    '<h1 align="center">Orders</h1>\n\n<!-- written by hand -->\n\n'
    "Customers order things.<br>They pay later.\n\n<details>\n<summary>More</summary>\n\nText.\n\n"
    "</details>\n"
)
TABLE: Final = (
    "# Limits\n\n| What | At most |\n| --- | --- |\n| items | 50 |\n| total | 1,000 |\n\n"
    "The total is `sum(prices)`; see the [table](limits.md#table)."
)
FRONT: Final = f"---\ntitle: Orders\ndraft = false;\n---\n\n{PROSE}"
LISTED: Final = (
    "# Rules\n\nAn order must have\n\n* a customer;\n* at least one item;\n* an address (where "
    "it is delivered);\n\nand it must not\n\n* be older than a year;\n* be changed once paid.\n"
)
CLASS: Final = (
    "The class of customers decides. For each customer, return the goods within 30 days.\n"
    "If the total is zero, do nothing. While the shop is closed, wait. SELECT one reviewer.\n"
    "Let total be the sum of all items. Import the users from the former system.\n"
)
REST: Final = (
    "Orders\n======\n\nCustomers order things::\n\n    order = Order(items)\n    order.pay()\n\n"
    ".. code-block:: python\n\n   import orders\n   orders.start()\n\nThey pay later.\n"
)
PINNED: Final = "django==5.0\nrequests>=2.31\n# for the tests\npytest~=8.0\n"
JSON: Final = '{\n  "orders": {"most": 50},\n  "currencies": ["EUR", "PLN"]\n}\n'
YAML: Final = "orders:\n  most: 50\n  currencies:\n    - EUR\n    - PLN\n"
TOML: Final = '[orders]\nmost = 50\ncurrencies = ["EUR", "PLN"]\n'
CSV: Final = "name,total\nAda,50\nGrace,70\n"
GERMAN: Final = (
    "# Bestellungen\n\nKunden bestellen Dinge; für jede Bestellung gilt: ohne Ware keine.\n"
)
CHINESE: Final = "# 订单\n\n客户下订单。没有商品的订单会被拒绝。\n"
SHORT: Final = "Orders are paid before they are sent.\n"
GIVEN: Final = (
    "## Refunds\n\nGiven an order that is paid,\nwhen the customer returns it,\n"
    "then the money is paid back: all of it, within 14 days.\n"
)

INNOCENT: Final[dict[str, tuple[str, str]]] = {
    "requirements": (".preflights/requirements.md", PROSE),
    "a long document": ("docs/orders.md", LONG),
    "prose with fenced code": ("docs/orders.md", f"{PROSE}\n{FENCED}\nThat is all.\n"),
    "prose with code in tildes": ("docs/orders.md", f"{PROSE}\n~~~js\n{JAVASCRIPT}~~~\n"),
    "a fenced test in prose": ("docs/orders.md", f"{PROSE}\n```\n{TEST}```\n"),
    "a fence that is not closed": ("docs/orders.md", f"{PROSE}\n```\n{PYTHON}"),
    "prose with an indented block": ("docs/orders.rst", REST),
    "prose with words in code": ("docs/setup.md", STEPS),
    "prose with markup": ("README.md", HTML_IN_PROSE),
    "prose with a table": ("docs/limits.md", TABLE),
    "prose behind front matter": ("docs/orders.md", FRONT),
    "lists with semicolons": ("docs/rules.txt", LISTED),
    "prose in words of code": ("docs/rules.txt", CLASS),
    "test at the end of a word": ("docs/latest.md", PROSE),
    "test inside a word": ("contest-rules.md", PROSE),
    "a word that begins with test": ("testimony.md", PROSE),
    "a test in words": ("docs/how-we-test.md", PROSE),
    "a plan of tests": ("docs/testing.md", GIVEN),
    "spec inside a word": ("specification.md", PROSE),
    "a folder of specifications": ("docs/specs/orders.md", PROSE),
    "a folder whose name holds test": ("latest/attests/orders.md", PROSE),
    "pinned requirements": ("requirements.txt", PINNED),
    "settings in JSON": ("limits.json", JSON),
    "settings in YAML": ("limits.yaml", YAML),
    "settings in TOML": ("limits.toml", TOML),
    "a table of values": ("limits.csv", CSV),
    "a language in the name": ("docs/moving-to-node.js.md", PROSE),
    "another language": ("docs/bestellungen.md", GERMAN),
    "another script": ("docs/订单.md", CHINESE),
    "one sentence without a suffix": ("NOTES", SHORT),
}

PROSE_TEXTS: Final[dict[str, str]] = FILED["PROSE_TEXTS"]
"""Texts that look a little like code."""

CODE_TEXTS: Final[dict[str, str]] = FILED["CODE_TEXTS"]
"""Source files of which the name says nothing."""
