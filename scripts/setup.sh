#!/usr/bin/env bash
# Makes the virtual environment .venv and installs a lock into it:
#     scripts/setup.sh site     what builds and serves the site
#     scripts/setup.sh test     that, and what tests it, a browser included
# Where this was done already for these locks, it does nothing and says nothing. The locks hold the
# hash of every file that pip may take.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1
sources=() # uv's options for pip's settings
state=.venv/.setup # "unfinished", or what is installed and the fingerprint of the locks
python=.venv/bin/python

say() { echo "make: $*"; }

fail() {
    printf '\n' >&2
    printf 'make: %s\n' "$@" >&2
    exit 1
}

# Runs a command; where it fails, prints the end of what it complained of and one clear sentence.
attempt() {
    local errors status=0 free
    errors=$("$@" 2>&1 | tee /dev/fd/3) || status=$?
    [ "$status" != 0 ] || return 0
    printf '%s\n' "$errors" | tail -n 12 | cut -c 1-300 >&2
    free=$(df --output=avail -m . | tail -n 1)
    case $errors in
    *"No space left on device"* | *"Disk quota exceeded"*) free=0 ;;
    *"DO NOT MATCH THE HASHES"* | *"Hash mismatch"*)
        fail "The lock does not know this file, and it was not installed. The locks know PyPI's files" \
            "and PyTorch's builds for CPUs. Does pip take another build, from a folder or an index of" \
            "yours (pip config list)? Else the file was damaged or changed on its way." ;;
    *Retrying* | *ConnectionError* | *"name resolution"* | *[Tt]imeout* | *"Failed to fetch"* | \
        *"error sending request"*)
        fail "The package index does not answer. Is there a network; does pip need a proxy or a mirror?" \
            "Once 'pip download jieba' works, run the same command again." ;;
    esac
    # Python's venv does not say why it failed.
    [ "$free" -gt 20 ] || fail "The disk is full." \
        "Make room (README.md tells how much is needed) and run the same command again."
    fail "This ended with status $status: $*"
}

apt_install() {
    local messages
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    say "installing with apt: $*"
    export DEBIAN_FRONTEND=noninteractive
    messages=$({ apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"; } 2>&1) ||
        { printf '%s\n' "$messages" | tail -n 12 >&2 && return 1; }
}

# The first Python that is new enough; 3.11 is preferred, as the locks were made with it.
find_python() {
    local candidate version found=""
    for candidate in python3.11 python3.12 python3.13 python3 python; do
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
        case $version in
        3.1[1-9] | 3.[2-9][0-9])
            echo "$candidate"
            return ;;
        esac
        found="$found $candidate is $version;"
    done
    fail "Python 3.11 or newer is needed;${found:- none was found;} install it, on Debian or Ubuntu by" \
        "    sudo apt-get install python3.11 python3.11-venv"
}

make_venv() {
    local base package
    base=$(find_python)
    package=$("$base" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    "$base" -c 'import ensurepip, venv' 2>/dev/null || apt_install "$package" ||
        fail "$("$base" --version) lacks the module venv; install it, on Debian or Ubuntu by" \
            "    sudo apt-get install $package"
    say "making .venv with $("$base" --version)"
    case $package in python3.11-*) ;; *) say "note: this project is tested with Python 3.11" ;; esac
    rm -rf .venv
    attempt mkdir .venv
    attempt mark unfinished
    attempt "$base" -m venv .venv
}

mark() { echo "$*" >"$state"; }

# Nothing is left to decide: a lock names everything, and what has no wheel is built with what was
# installed before. pip brings uv, which installs the rest in a tenth of pip's time.
install() {
    local how=(--require-hashes --no-deps --no-build-isolation -r "locks/$1.txt")
    if [ "$1" = build ]; then
        "$python" -m pip install --disable-pip-version-check --progress-bar off "${how[@]}"
    else
        "$python" -m uv pip install --python "$python" --index-strategy unsafe-best-match \
            "${sources[@]}" "${how[@]}"
    fi
}

# uv is to take its files from where pip would: mirrors and folders of the machine.
as_pip_does() {
    local name value each
    export UV_CACHE_DIR=$PWD/.cache/uv
    while IFS='=' read -r name value; do
        value=${value:1:-1}
        for each in ${value//\\n/ }; do
            case ${name##*.} in
            index-url) sources+=(--default-index "$each") ;;
            extra-index-url) sources+=(--index "$each") ;;
            find-links) sources+=(--find-links "$each") ;;
            no-index) sources+=(--no-index) ;;
            trusted-host) sources+=(--allow-insecure-host "$each") ;;
            cert) export SSL_CERT_FILE=$each ;;
            proxy) export ALL_PROXY=$each ;;
            esac
        done
    done < <("$python" -m pip config list)
}

# PyTorch's build for CPUs where it is found, in an index or folder of the machine.
install_cpu() {
    local errors
    errors=$(install cpu 2>&1 | tee /dev/fd/3) || [[ $errors == *"No solution found"* ]] ||
        attempt install cpu
}

# What torch still needs, or anything else that is not there. (What somebody put into .venv besides
# may complain of versions.)
lacking() {
    { "$python" -m pip check || true; } | grep -E '^torch |which is not installed'
}

install_locks() {
    local lacks
    say "installing locks/$1.txt into .venv (some minutes; PyTorch is the largest)"
    attempt mark unfinished
    attempt install build
    as_pip_does
    install_cpu
    attempt install "$1"
    lacks=$(lacking || true)
    if grep '^torch ' <<<"$lacks" >/dev/null; then
        say "installing locks/cuda.txt, which PyPI's build of PyTorch needs"
        attempt install cuda
        lacks=$(lacking || true)
    fi
    [ -z "$lacks" ] || fail "$lacks" "" \
        "The locks lack what is named above. They were made with Python 3.11: install that one," \
        "or run scripts/lock.sh, which makes them with $("$python" --version)."
    rm -rf .cache/uv
}

# The browser is looked for each time: it lives outside .venv. Without one its tests fail, the
# others run.
provide_browser() {
    local packages
    packages=$("$python" -m scripts.browser 2>/dev/null) && return
    if [ "$(id -u)" = 0 ] && grep -qs '^ID=ubuntu' /etc/os-release; then
        # Ubuntu's own package is only a snap, which does not run in containers.
        "$python" -m playwright install --with-deps chromium || true
        packages=${packages/chromium-headless-shell/}
    fi
    # shellcheck disable=SC2086  # package names, to be split
    [ -z "$packages" ] || apt_install $packages || true
    "$python" -m scripts.browser >/dev/null || true
}

# nginx for the test of hosting/ is looked for each time as well. It is unpacked and not installed:
# apt would start it as a service, for the whole network.
provide_server() {
    "$python" -m scripts.nginx 2>/dev/null && return
    if command -v apt-get >/dev/null; then
        say "unpacking nginx into .cache, for the tests"
        [ "$(id -u)" != 0 ] || apt-get update -qq || true
        (mkdir -p .cache/nginx && cd .cache/nginx && apt-get download -qq nginx &&
            dpkg-deb --extract nginx_*.deb .) >/dev/null 2>&1 || true
    fi
    "$python" -m scripts.nginx || true
}

# Two terminals may call this at once: the second waits.
exec 9<"scripts/setup.sh"
if command -v flock >/dev/null && ! flock -n 9; then
    say "waiting for another make that is setting up"
    flock 9
fi

# The report of pip and uv, cut to the downloads that take time.
exec 3> >(grep --line-buffered -oE 'Downloading .*[0-9]{2}(\.[0-9])? ?Mi?B\)|^Installed [0-9].*' || true)

fingerprint=$(cat locks/*.txt | sha256sum | cut -c 1-16)
installed=$(cat "$state" 2>/dev/null || true)
if [ -e .venv ] && [ ! -e "$state" ]; then
    fail "The folder .venv was not made by make. Move it away, or use it yourself:" \
        "    pip install -r requirements.txt && mkdocs serve"
fi
if [ "${installed:-unfinished}" = unfinished ] || ! "$python" -c '' 2>/dev/null; then
    make_venv
    installed=""
fi

case "$what: $installed" in
"site: site $fingerprint" | "site: test $fingerprint" | "test: test $fingerprint") ;;
*)
    install_locks "$what"
    attempt mark "$what $fingerprint"
    say "done: .venv holds $(du -sh .venv | cut -f 1)"
    ;;
esac
if [ "$what" = test ]; then
    provide_browser
    provide_server
fi
