#!/bin/sh
# A day in a throw-away folder: a note becomes tasks, the day plan picks one, a decision settles it, memory
# finds the decision, a question counts it, and the compiler plans the project. Rules answer: no key, no network.
. "$(dirname "$0")/demo-setup.sh"

run preflights note "Keep the orders in a database ~90m !high
call the bank ~10m
lunch @today-12:00-13:00" -q
run preflights today --from 09:00 --until 17:00 -q
run preflights start --task last.1 --answer db_type=PostgreSQL --accept --by "Ada Lovelace" -q
run preflights note list
run preflights note done last.1 -q
run preflights recall "Welche Datenbank nehmen wir?" -q
run preflights ask "decisions today?" --run -q
run preflights init --plans
printf '# Orders\n\n## Baskets\n\nA customer fills a basket.\n' >.preflights/requirements.md
printf '# Constraints\n\nPython, in a hexagonal architecture.\n' >.preflights/constraints.md
printf '# Glossary\n\nBasket: what a customer wants to buy.\n' >.preflights/glossary.md
run preflights plan project -q
run preflights approve last --by "Ada Lovelace" -q
run preflights plan architecture -q
run preflights sessions --all
