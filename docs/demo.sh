#!/bin/sh
# A session from intention to replay, in a throw-away folder; asks nothing at the keyboard.
set -eu

demo=$(mktemp -d)
trap 'rm -rf "$demo"' EXIT
cd "$demo"
git init --quiet .
PATH="$BIN:$PATH"
export PREFLIGHTS_ACTOR="Demo"
unset PREFLIGHTS_DATABASE_URL PREFLIGHTS_PROJECT PREFLIGHTS_PROVIDER 2>/dev/null || true

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}

run preflights start "Add login" --answer auth_strategy=OAuth --accept --by "Ada Lovelace"
run cat docs/decisions/0001-use-oauth-for-authentication.md
run preflights log last
run preflights replay last
