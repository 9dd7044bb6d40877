"""Listens to events of a worker with the public client `httpx`: says the first one, and leaves when its own input ends."""

import sys

import httpx

BASE, HOST, KEY, NONCE = sys.argv[1:5]
HEADERS = {"Host": HOST, "Authorization": f"Bearer {KEY}", "Accept": "text/event-stream"}

with httpx.Client(headers=HEADERS, trust_env=False) as client:
    with client.stream("GET", f"{BASE}/events?nonce={NONCE}", timeout=None) as answer:
        lines = answer.iter_lines()  # Kept, for the connection closes with it.
        for line in lines:
            if line.startswith("data: "):
                print(line, flush=True)
                break
        sys.stdin.read()
