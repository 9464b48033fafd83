#!/bin/sh
# From a question to a record, its reasons and its replay, in a throw-away folder. The simulator
# stands in for a model, so that the demo needs no key and no network. It asks nothing at the keyboard.
. "$(dirname "$0")/demo-setup.sh"

run preflights start "Choose a database for the orders" --provider sim --seed 4
run preflights answer last 1 --because "Orders change together" --alternative "Redis: no joins"
run preflights accept last --by "Ada Lovelace" -q
run sh -c 'cat docs/decisions/0001-*.md'
run preflights why last Type
run preflights replay last
