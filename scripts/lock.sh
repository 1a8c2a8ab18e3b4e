#!/usr/bin/env bash
# Writes both locks from pyproject.toml; versions already locked stay, unless --upgrade is given.
set -euo pipefail
cd "$(dirname "$0")/.."

compile() { # lock, extras and options
    local lock=$1
    shift
    echo "make: writing $lock"
    # A machine's own index, constraints or local builds must not reach the lock. PyTorch's CUDA
    # packages differ from platform to platform: torch itself pins them.
    CUSTOM_COMPILE_COMMAND="make lock" .venv/bin/python -m piptools compile --quiet \
        --output-file "$lock" --strip-extras --allow-unsafe --annotation-style line \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
        "$@" pyproject.toml
    sed -i -E -e '/^(nvidia|cuda|triton)\b/d' -e 's/^([^ +]+)\+cpu\b/\1    /' \
        -e 's/# via -c requirements.txt, /# via /' "$lock"
}

.venv/bin/python -m pip install --quiet pip-tools==7.6.2
site=(--extra figures --extra transformers --extra site)
compile requirements.txt "${site[@]}" "$@"
compile requirements-test.txt "${site[@]}" --extra test --constraint requirements.txt "$@"
