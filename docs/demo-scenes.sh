#!/bin/sh
# The scenes of docs/demo.svg, in a throw-away folder; a line with @ begins one. The agent has no terminal, the
# person has one.
. "$(dirname "$0")/demo-setup.sh"

unset CI
export COLUMNS=84

# Shows what a command prints between two lines: a scene has as many words as are read in its time.
part() { sed -n "$1"; }

echo "@ An agent asks"
CLAUDECODE=1 run preflights start "Choose a database" --question "Which database keeps the orders?" \
  --option SQLite --option PostgreSQL --topic Database --recommend "PostgreSQL: several writers" \
  2>/dev/null | part '1,2p; /^Which/,/ 2\./p'

preflights() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' preflights "$@"; }

echo "@ A person answers in the inbox"
run preflights inbox -q | part '1,2p; /question/p'
run preflights answer last 1 --because "Several writers" -q | part 1,2p
run preflights accept last -q | part '1,2p; /written/p'

echo "@ The record"
run cat docs/decisions/0001-use-postgresql-for-the-database.md | part '1,2p; /^## Decision/,/^. Type/p'

echo "@ Why"
run preflights why last Type | part '1,2p; /^  answer/p; /^  because/p; /^  accepted/p'
