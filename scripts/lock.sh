#!/usr/bin/env bash
# Writes the locks from pyproject.toml; versions already locked stay, unless --upgrade is given:
#     requirements.txt, requirements-test.txt    the versions, for pip alone
#     locks/                                     with the hashes of their files, for setup.sh
set -euo pipefail
cd "$(dirname "$0")/.."

python=.venv/bin/python
cuda=.cache/cuda.txt # the versions of what only PyPI's build of torch needs

# Of this machine's pip, only its index may have a say. Its constraints, folders of wheels and other
# indexes must not reach a lock.
index=${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null ||
    echo https://pypi.org/simple)}
unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL PIP_CONSTRAINT PIP_PRE
export PIP_CONFIG_FILE=/dev/null PIP_INDEX_URL=$index

compile() { # lock, extras and options
    local lock=$1 new=.cache/$1 # an interrupted run leaves the lock as it was
    shift
    echo "make: writing $lock"
    cat "$lock" "$cuda" >"$new" # so that the versions of CUDA's packages stay, too
    CUSTOM_COMPILE_COMMAND="make lock" .cache/lock/bin/python -m piptools compile --quiet \
        --output-file "$new" --strip-extras --allow-unsafe --annotation-style line \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
        "$@" pyproject.toml
    # They differ from platform to platform, and torch's build for CPUs needs none of them.
    grep -E '^(nvidia|cuda|triton)' "$new" >"$cuda" || true
    sed -i -E -e '/^(nvidia|cuda|triton)/d' -e 's/# via -c requirements.txt, /# via /' "$new"
    mv "$new" "$lock"
}

# pip-tools would change what .venv holds. (pip of Debian 12 would download every file it looks at.)
mkdir -p .cache locks
"$python" -m venv --clear .cache/lock
.cache/lock/bin/python -m pip install --quiet --disable-pip-version-check pip==26.3 pip-tools==7.6.2

grep -oE '^[a-z0-9-]+==[^ ]+' locks/cuda.txt >"$cuda" 2>/dev/null || true
site=(--extra figures --extra transformers --extra site)
compile requirements.txt "${site[@]}" "$@"
compile requirements-test.txt "${site[@]}" --extra test --constraint requirements.txt "$@"
echo "make: writing locks/"
"$python" -m scripts.hashes "$index" "$cuda"
rm -rf .cache/lock "$cuda"
