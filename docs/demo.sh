#!/bin/sh
# From a question to a record, its reasons and its replay, in a throw-away folder. The simulator
# stands in for a model, so that the demo needs no key and no network. It asks nothing at the keyboard.
set -eu

demo=$(mktemp -d)
trap 'rm -rf "$demo"' EXIT
mkdir "$demo/shop" && cd "$demo/shop"
git init --quiet .
PATH="$BIN:$PATH"
HOME="$demo"
PREFLIGHTS_ACTOR="Ada Lovelace"
export HOME PREFLIGHTS_ACTOR
unset XDG_CONFIG_HOME PREFLIGHTS_DATABASE_URL PREFLIGHTS_PROJECT PREFLIGHTS_PROVIDER 2>/dev/null || true

# Exit code 3 says that a person is needed: here it is the next command.
run() {
  printf '\n$'
  for word in "$@"; do
    case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  echo
  "$@" || [ $? = 3 ]
}

run preflights start "Choose a database for the orders" --provider sim --seed 39
run preflights answer last 3 --because "Orders change together" --alternative "Redis: no joins"
run preflights accept last --by "Ada Lovelace" -q
run sh -c 'cat docs/decisions/0001-*.md'
run preflights why last Type
run preflights replay last
