"""Has public Python HTTP clients call a worker that mirrors, and prints for each of them what it saw, as one line of JSON."""

import asyncio
import hashlib
import json
import os
import sys

import aiohttp
import httpx
import requests

BASE, HOST, KEY = sys.argv[1:4]
HEADERS = {"Host": HOST, "Authorization": f"Bearer {KEY}"}
LARGE = os.urandom(1024 * 1024)
SUM = hashlib.sha256(LARGE).hexdigest()


def parts():
    for start in range(0, len(LARGE), 50_000):
        yield LARGE[start : start + 50_000]


async def parts_beside():
    for part in parts():
        yield part


def report(whole, chunked, echoed, head, nothing, cached, packed, pieces, cookies):
    return {
        "whole": [whole["bytes"], whole["sha256"] == SUM, whole["headers"].get("content-length")],
        "chunked": [chunked["bytes"], chunked["sha256"] == SUM, chunked["headers"].get("transfer-encoding")],
        "echoed": hashlib.sha256(echoed).hexdigest() == SUM,
        "head": head,
        "nothing": nothing,
        "cached": cached,
        "packed": packed == "packed" * 1000,
        "pieces": len(pieces.splitlines()),
        "cookies": cookies,
    }


def by_session(session, chunks):
    """`requests` and `httpx` have the same words for most."""
    fresh = session.get(f"{BASE}/cached").headers["etag"]
    head = session.head(f"{BASE}/mirror")
    nothing = session.get(f"{BASE}/nothing")
    cached = session.get(f"{BASE}/cached", headers={"If-None-Match": fresh})
    return report(
        session.post(f"{BASE}/mirror", data=LARGE).json(),
        session.post(f"{BASE}/mirror", data=chunks()).json(),
        session.post(f"{BASE}/echo", data=LARGE).content,
        [head.status_code, int(head.headers["content-length"]) > 0, len(head.content)],
        [nothing.status_code, nothing.headers["x-own"], len(nothing.content)],
        [cached.status_code, cached.headers["etag"], len(cached.content)],
        session.get(f"{BASE}/packed").text,
        session.get(f"{BASE}/pieces").text,
        sorted(session.get(f"{BASE}/cookies").cookies.keys()),
    )


def by_requests():
    with requests.Session() as session:
        session.headers.update(HEADERS)
        session.trust_env = False
        return by_session(session, parts)


class Contents(httpx.Client):
    """With the word that `requests` has for bytes."""

    def post(self, url, data):
        return super().post(url, content=data)


def by_httpx():
    with Contents(headers=HEADERS, trust_env=False) as session:
        answer = by_session(session, parts)
        hinted = session.get(f"{BASE}/hints")
        return {**answer, "hinted": [hinted.status_code, hinted.text]}


async def by_aiohttp():
    async with aiohttp.ClientSession(headers=HEADERS, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def ask(method, path, **more):
            async with session.request(method, f"{BASE}{path}", **more) as answer:
                return answer, await answer.read()

        fresh, _ = await ask("GET", "/cached")
        head, head_body = await ask("HEAD", "/mirror")
        nothing, nothing_body = await ask("GET", "/nothing")
        cached, cached_body = await ask("GET", "/cached", headers={"If-None-Match": fresh.headers["etag"]})
        cookies, _ = await ask("GET", "/cookies")
        answer = report(
            json.loads((await ask("POST", "/mirror", data=LARGE))[1]),
            json.loads((await ask("POST", "/mirror", data=parts_beside(), expect100=True))[1]),
            (await ask("POST", "/echo", data=LARGE))[1],
            [head.status, int(head.headers["content-length"]) > 0, len(head_body)],
            [nothing.status, nothing.headers["x-own"], len(nothing_body)],
            [cached.status, cached.headers["etag"], len(cached_body)],
            (await ask("GET", "/packed"))[1].decode(),
            (await ask("GET", "/pieces"))[1].decode(),
            sorted(cookies.cookies.keys()),
        )
        hinted, hinted_body = await ask("GET", "/hints")
        return {**answer, "hinted": [hinted.status, hinted_body.decode()]}


print(json.dumps({"requests": by_requests(), "httpx": by_httpx(), "aiohttp": asyncio.run(by_aiohttp())}))
