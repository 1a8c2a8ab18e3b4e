"""The content security policy that each finished page carries about itself.

Nothing may come from another host, and no script runs that is not a file of the site or named by
its hash. Inline *style attributes* are allowed (formulas and figures have them), `<style>`
elements are not: a page that is swapped in by instant navigation keeps the first page's policy,
so what one page may do all must be allowed to do.
"""

from __future__ import annotations

import base64
import hashlib
import re

_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.S | re.I)
_STYLE = re.compile(r"<style[\s>]", re.I)
_HANDLER = re.compile(r"<[a-z][^<>]*[\s/](on[a-z]+)\s*=", re.I)
_VALUE = re.compile(r"\"[^\"]*\"|'[^']*'")
_DATA = re.compile(r'type="?application/(?:ld\+)?json', re.I)
_META = re.compile(r'(<meta charset="?utf-8"?\s*/?>)', re.I)


class PolicyError(ValueError):
    """A page holds something that no policy of this site allows."""


def script_hashes(page: str) -> list[str]:
    """The hashes of the inline scripts of a page, each once, in their order."""
    hashes: dict[str, None] = {}
    for script in _SCRIPT.finditer(page):
        if "src=" not in script["attributes"] and not _DATA.search(script["attributes"]):
            digest = hashlib.sha256(script["body"].encode()).digest()
            hashes[f"'sha256-{base64.b64encode(digest).decode()}'"] = None
    return list(hashes)


def policy(scripts: list[str]) -> str:
    """The policy as one line; `scripts` are further sources of scripts, such as hashes."""
    rules = {
        "default-src": ["'none'"],
        "script-src": ["'self'", *scripts],
        # Browsers that do not know the two finer rules fall back on the first.
        "style-src": ["'self'", "'unsafe-inline'"],
        "style-src-elem": ["'self'"],
        "style-src-attr": ["'unsafe-inline'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "worker-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
    }
    return "; ".join(" ".join([name, *sources]) for name, sources in rules.items())


def protect(page: str, serving: bool = False) -> str:
    """The finished page with its policy as the first thing after the character set.

    `mkdocs serve` adds its own inline script afterwards, other for each build: `serving` allows
    inline scripts and leaves the rest as it is.

    Raises
    ------
    PolicyError
        The page has a `<style>` element or an inline event handler, or no place for a policy.
    """
    markup = _VALUE.sub('""', _SCRIPT.sub("", page))
    if _STYLE.search(markup):
        raise PolicyError("a <style> element: rules belong in docs/assets/css")
    if handler := _HANDLER.search(markup):
        raise PolicyError(f"an inline event handler: {handler[1]}")
    scripts = ["'unsafe-inline'"] if serving else script_hashes(page)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(scripts)}">'
    protected, count = _META.subn(rf"\1\n      {meta}", page, count=1)
    if not count:
        raise PolicyError('no <meta charset="utf-8"> to put the policy after')
    return protected
