# Read by the demos: a repository called shop in a throw-away folder, and a person who acts there.
set -eu

demo=$(mktemp -d)
trap 'rm -rf "$demo"' EXIT
mkdir "$demo/shop" && cd "$demo/shop"
git init --quiet .
PATH="$BIN:$PATH"
HOME="$demo"
PREFLIGHTS_ACTOR="Ada Lovelace"
TZ=UTC # a question about today means the day of UTC
export HOME PREFLIGHTS_ACTOR TZ
unset XDG_CONFIG_HOME PREFLIGHTS_DATABASE_URL PREFLIGHTS_PROJECT PREFLIGHTS_PROVIDER 2>/dev/null || true

# Prints a command as a person types it, and runs it. Exit code 3 says that a person is needed: here it is the
# next command.
run() {
  printf '\n$'
  for word in "$@"; do
    case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  echo
  "$@" || [ $? = 3 ]
}
