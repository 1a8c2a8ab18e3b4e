"""Ask every address of docs/links.yml whether it is still there: `python -m scripts.visit`.

Hosts are asked at the same time, the addresses of one host one after another and slowly.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from scripts import links

ROOT = Path(__file__).resolve().parent.parent
HOSTS, PAUSE, PATIENCE = 8, 1.0, 20.0  # at once; seconds between two visits; seconds for an answer
AGENT = "tokpos-links/1 (asks whether the links of a course are alive)"
NO_ANSWER = "no answer"


class _MovedForGood(HTTPRedirectHandler):
    """Follow an address that leads on, but not one that says that it has a new one."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        was_led_here = hasattr(req, "redirect_dict")
        if code in (301, 308) and not was_led_here:
            return None  # it is then an HTTPError
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fault(address: str, patience: float = PATIENCE) -> str:
    """What is wrong with an address, by its host; empty where nothing is."""
    said = ""
    for method in ("HEAD", "GET"):  # not every host answers the first
        request = Request(address, method=method, headers={"User-Agent": AGENT})
        try:
            build_opener(_MovedForGood).open(request, timeout=patience).close()
            return ""
        except HTTPError as error:
            error.close()
            said = f"{error.code} {error.reason}"
            if error.code in (301, 308):
                return f"{said}: {error.headers.get('Location', '')}"
        except (OSError, HTTPException) as error:
            return f"{NO_ANSWER}: {getattr(error, 'reason', None) or error}"
    return said


def visit(
    addresses: Iterable[str], pause: float = PAUSE, patience: float = PATIENCE
) -> Iterator[tuple[str, str]]:
    """The addresses that are not right, host by host, each with what is wrong."""
    hosts: dict[str, list[str]] = {}
    for address in addresses:
        hosts.setdefault(urlsplit(address).netloc, []).append(address)

    def ask(host: str) -> list[tuple[str, str]]:
        faults, said = [], ""
        for number, address in enumerate(hosts[host]):
            if not said.startswith(NO_ANSWER):  # the next would wait as long, and in vain
                time.sleep(pause if number else 0)
                said = fault(address, patience)
            if said:
                faults.append((address, said))
        return faults

    with ThreadPoolExecutor(HOSTS) as threads:
        for faults in threads.map(ask, hosts):
            yield from faults


def main() -> int:
    listed = [link.address.removesuffix("*") for link in links.read(ROOT / links.SHOWN)]
    print(f"Asking for {len(listed)} addresses; hosts that have many take a while")
    faults = list(visit(listed))
    if len(faults) == len(listed) and all(said.startswith(NO_ANSWER) for _, said in faults):
        print("No address answers. Is there a network that leads outside?", file=sys.stderr)
        return 1
    for address, said in faults:
        print(f"{address}: {said}")
    print(f"{len(listed) - len(faults)} of {len(listed)} are there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
