#!/bin/sh
# The scenes of docs/demo.svg, in a throw-away folder; a line with @ begins one. The agent has no terminal, the
# person has one.
. "$(dirname "$0")/demo-setup.sh"

unset CI
export COLUMNS=104

echo "@ An agent asks"
CLAUDECODE=1 run preflights start "Choose a database" --question "Which database keeps the orders?" \
  --option SQLite --option PostgreSQL --against "SQLite: one writer" --topic Database \
  --recommend "PostgreSQL: several services write at once" --no-input 2>/dev/null

preflights() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' preflights "$@"; }

echo "@ A person answers in the inbox"
run preflights inbox -q
run preflights answer last 1 --because "Several services write at once" -q
run preflights accept last -q

echo "@ The record"
run sh -c "sed -n '/^# /,/^. Type/p' docs/decisions/0001-*.md"

echo "@ Why"
run preflights why last Type
run preflights replay last
