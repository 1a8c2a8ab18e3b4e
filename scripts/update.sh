#!/usr/bin/env bash
# Newer versions of everything that is locked, installed; then what they change on the pages.
set -euo pipefail
cd "$(dirname "$0")/.."

python=.venv/bin/python
before=.cache/before-update.json
read -r installed _ <.venv/.setup

ended() {
    [ "$?" != 0 ] || return 0
    printf '\nmake: %s\n' "The update has ended half way. Repair what is named above; then 'make numbers'" \
        "lists what has changed on the pages. Or go back to the versions before it:" \
        "    git checkout requirements.txt requirements-test.txt locks" \
        "The next make installs them again." >&2
}

echo "make: what stands on the pages now"
"$python" -m scripts.numbers --keep "$before"
trap ended EXIT
scripts/lock.sh "${@:---upgrade}"
scripts/setup.sh "$installed"
echo "make: what stands there with these versions"
"$python" -m scripts.numbers --since "$before"
