#!/bin/sh
# From three documents to a refactoring: six passes of the compiler, in a throw-away folder. The rules
# stand in for a model, so that the demo needs no key and no network. It asks nothing at the keyboard.
name=orders
. "$(dirname "$0")/demo-setup.sh"

# Exit code 3 says that a person is needed: here it is the next command.
run() {
  typed "$@"
  "$@" >"$demo/out" || [ $? = 3 ]
}

# A person approves each artifact before the next pass reads it.
pass() {
  run preflights plan "$@" -q
  sed -n 1,3p "$demo/out"
  run preflights approve last --by "Ada Lovelace" -q
  grep 'written to' "$demo/out"
}

run preflights init --plans && cat "$demo/out"
printf '# Orders\n\n## Baskets\n\nA customer fills a basket.\n' >.preflights/requirements.md
printf '# Constraints\n\nPython, in a hexagonal architecture.\n' >.preflights/constraints.md
printf '# Glossary\n\nBasket: what a customer wants to buy.\n' >.preflights/glossary.md
pass project
pass architecture
pass scaffold
pass tests
mkdir src tests && touch src/baskets.py tests/test_baskets.py && git add .
run preflights lock tests --by "Ada Lovelace" -q && sed -n 3p "$demo/out"
pass impl src/baskets.py
pass refactor "Move src/baskets.py to src/orders/baskets.py"
run preflights artifacts show last -q && cat "$demo/out"
run preflights artifacts && cat "$demo/out"
run preflights lock verify && cat "$demo/out"
