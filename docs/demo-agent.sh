#!/bin/sh
# A coding agent, played by a script, in a throw-away folder: it asks its person through the server, a person
# accepts, and its hooks bring the decision back before an edit and after a compaction. It asks nothing here.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/demo-setup.sh"

agent() {
  echo
  "$BIN/python" "$here/demo-agent.py" "$1"
}

run preflights init --agent claude
agent startup
agent decides
run preflights inbox -q
run preflights accept last --by "Ada Lovelace" --alternative "SQLite: one writer at a time" -q
agent edits
agent compact
run preflights why last Type
