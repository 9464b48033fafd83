# Read by the demos: a repository called $name in a throw-away folder, and a person who acts there.
set -eu

demo=$(mktemp -d)
trap 'rm -rf "$demo"' EXIT
mkdir "$demo/$name" && cd "$demo/$name"
git init --quiet .
PATH="$BIN:$PATH"
HOME="$demo"
PREFLIGHTS_ACTOR="Ada Lovelace"
export HOME PREFLIGHTS_ACTOR
unset XDG_CONFIG_HOME PREFLIGHTS_DATABASE_URL PREFLIGHTS_PROJECT PREFLIGHTS_PROVIDER 2>/dev/null || true

# Prints a command as a person types it.
typed() {
  printf '\n$'
  for word in "$@"; do
    case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  echo
}
