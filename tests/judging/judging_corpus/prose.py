"""Prose that looks like code: the material of plans, rules and notes."""

from __future__ import annotations

import json
from typing import Final

from tests.judging.judging_corpus.case import Case, said


def items(name: str, *texts: str) -> Case:
    """Texts as the items of a list."""
    return Case(name, json.dumps({"a": "x", "l": texts}), {"a": "x", "l": list(texts)})


ENGLISH: Final = tuple(
    said(f"prose: {text[:50]}", text)
    for text in (
        "Import the users from the old system before the cut-over.",
        "import customers, then orders",
        "From the import of goods, duties apply.",
        "Class of customers: private, business, public.",
        "class Gold has priority over class Silver",
        "SELECT one reviewer FROM the team",
        "Select all invoices from last month where the total is wrong.",
        "select a provider from the list",
        "Delete from the basket what is out of stock.",
        "Insert into the report a line for each region.",
        "Update users on the progress; set a date for the demo.",
        "Drop the table booking if no guest comes.",
        "Create a table with all prices and an index of names.",
        "Alter the plan, not the table.",
        "Join the two teams on Monday.",
        "Return the book to the shelf; return late fees, too.",
        "return nothing to customers who paid by voucher",
        "Let x be the number of seats and y the price.",
        "let the customer = the person who pays",
        "For each order in the queue, send one mail.",
        "for orders in transit: call the carrier",
        "While the shop is closed, orders wait.",
        "If the stock is low (less than 10), then reorder; else wait.",
        "if total > 100: free shipping",
        "else the order stays open",
        "Try again later, except on Sundays.",
        "Try: call the customer. Finally: write a letter.",
        "Do not switch carriers in case of strikes.",
        "Break the work into steps and continue on Monday.",
        "Define a function for each role (buyer, seller).",
        "The function of the court is to judge; its interface is the clerk.",
        "Use the public transport; private cars are static most of the day.",
        "public holidays (14 July) are free",
        "The package contains a main course and a side dish.",
        "Go get the keys, then go home.",
        "Make clean copies of all files.",
        "Find the owner and touch base with sales.",
        "Cat food, dog food; sort by price.",
        "Use git and docker; npm install fails offline.",
        "Run the tests with pytest before each release.",
        "Echo the number back to the caller.",
        "The value must be < 10 and > 2.",
        "Profit = revenue - cost",
        "Price: 5 $ (about 4 €), 20 % off; a 50/50 split.",
        "Ratio a:b is 1:2 => half goes to b.",
        "Ask for {name} and {date} in the letter.",
        "Set status to <open> or <closed>.",
        "See section 3.2 (c) and note [1]; cf. RFC 8259.",
        "Call the method OrderService.cancel from the page.",
        "The field order_id is required; user.email is not.",
        "Endpoint: GET /orders/{id} returns the order.",
        "Store prices in orders.csv and docs/prices.md.",
        "Mail ada@example.org about #42 @ noon.",
        "C++ and C# developers, 3+ years; React/Next.js a plus.",
        "Use null objects, not None; true means yes.",
        "import duties and export taxes: see the annex",
        "const is a keyword; var and let are others.",
        "The lambda of the exponential distribution is the rate.",
        "New Order, New Customer and New Address are the forms.",
        "await the reply of the authority",
        "lambda: the wavelength of light",
        "- C++;\n- Rust;",
        "[see page 3 for details in the annex]",
        "npm run build is what the pipeline calls",
        "echo > 3 seconds is too long",
        "The window.\nOpen it in summer.",
        "1. Order(s)\n2. Customer(s)",
        "cancel(order) refuses what was shipped",
        "a => b means that b follows from a",
        "Given a cart, when the user pays, then the order is open.",
        "assert that the total is 3",
        "BEGIN and COMMIT are words of a transaction.",
        "yield: 5 % a year; throw away the rest",
        "- one\n- two\n- three (see above)",
        "1. Import users\n2. Select a role\n3. Return the form",
        "* domain: orders\n* layer: application\n* rule: no import of infrastructure",
        "| role | right |\n| --- | --- |\n| buyer | read |",
        "Layers: domain -> application -> infrastructure",
        "Wait --- then go +++ good news +++",
        "domain_cannot_import_infrastructure",
        "src/orders/application/cancel_order.py",
        "orders.application.CancelOrder",
        "From Mars import goods; rules (see 3) apply.",
        "Import the rota; check (and sign) it.",
        "The exec (board) reviews the eval(uation) of the model.",
        "Documents never name exec() or eval(): they are calls.",
    )
)
GERMAN: Final = tuple(
    said(f"Prosa: {text[:50]}", text)
    for text in (
        "Import der Nutzer aus dem Altsystem (siehe Anhang).",
        "Klasse der Kunden: privat, gewerblich, öffentlich.",
        "Die Funktion des Gerichts ist es, zu urteilen.",
        "Falls der Bestand niedrig ist: nachbestellen; sonst warten.",
        "SELECT heißt auswählen, DELETE heißt löschen.",
        "Für jede Bestellung in der Liste eine Mail schreiben.",
        "Rückgabe = Rücknahme innerhalb von 14 Tagen",
        "do. bis so. geöffnet, für Gruppen (ab 10) nach Anmeldung",
        "if und else sind englische Wörter; while auch.",
        "Paket A & B: 3 x 2 = 6 Stück, also < 10",
        "Import- und Export-Abteilung, z. B. in Köln",
        "Let's go! Der Name des Lokals ist „class“.",
    )
)
LISTS: Final = (
    items("a list of steps", "import the users", "select a role", "return the form"),
    items(
        "a list of conditions", "if late, send a mail", "else do nothing", "for all others: wait"
    ),
    items("a list of words", "import", "class", "return", "for", "if", "select"),
    items("a list of names", "def", "fn", "func", "let", "var", "const"),
    items("a list of languages", "Python", "TypeScript", "Go", "C++", "SQL", "HTML"),
    items("a list of signs", "{", "}", "and", "<", ">"),
    items("a list of paths", "src/orders/model.py", "tests/test_orders.py", "README.md"),
    items("a list of rules", "domain -> infrastructure: never", "application -> domain: yes"),
)

CASES: Final = (*ENGLISH, *GERMAN, *LISTS)
