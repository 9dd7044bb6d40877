"""Has the public Python client `websockets` talk with a worker at an endpoint, and prints what it saw as one line of JSON."""

import asyncio
import hashlib
import json
import os
import sys

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

BASE, HOST, PORT, KEY, HAS_FRAMES = sys.argv[1:6]
LARGE = os.urandom(1024 * 1024)


def dial(path, **more):
    headers = {"Authorization": f"Bearer {KEY}"}
    options = {"host": HOST, "port": int(PORT), "additional_headers": headers, "proxy": None, "max_size": 4 * len(LARGE)}
    return connect(f"{BASE}{path}", **options, **more)


async def heard(socket, said):
    await socket.send(said)
    return await socket.recv()


async def messages(report):
    async with dial("/talk?nonce=messages", subprotocols=["talk.v0", "talk.v1"]) as socket:
        report["protocol"] = socket.subprotocol
        report["isDeflated"] = [each.name for each in socket.protocol.extensions] == ["permessage-deflate"]
        report["workerIsNamed"] = "X-Runpod-Worker-Id" in socket.response.headers
        report["text"] = await heard(socket, "grüße ✓")
        report["binary"] = (await heard(socket, bytes([0, 255, 128]))).hex()
        report["whole"] = await heard(socket, ["one, ", "two, ", "three"])
        echoed = await heard(socket, LARGE)
        report["largeIsSame"] = hashlib.sha256(echoed).digest() == hashlib.sha256(LARGE).digest()
        await (await socket.ping("there?"))
        report["pong"] = "there?"
        if HAS_FRAMES == "frames":
            report["what"] = json.loads(await heard(socket, "!what"))
            report["served"] = await heard(socket, "!ping here!")
            await socket.send("!fragments one two three")
            # One of the servers ends its message with a fragment of nothing.
            report["pieces"] = [piece async for piece in socket.recv_streaming() if piece != ""]


async def closings(report):
    for code in [1000, 3000, 4999]:
        socket = await dial(f"/talk?nonce=mine-{code}")
        await socket.close(code, f"mine, {code}")
        report["theirs"].append(await closed_by(f"!close {code} theirs, {code}"))
    if HAS_FRAMES == "frames":
        report["dropped"] = await closed_by("!drop")
    gone = await dial("/talk?nonce=gone")
    gone.transport.abort()
    await gone.wait_closed()


async def closed_by(order):
    socket = await dial("/talk?nonce=theirs")
    try:
        await heard(socket, order)
    except ConnectionClosed:
        pass
    return [socket.close_code, socket.close_reason]


async def refused(report):
    try:
        await dial("/refuse")
    except InvalidStatus as error:
        answer = error.response
        report["refused"] = [answer.status_code, answer.headers["X-Why"], answer.body.decode()]


async def main():
    report = {"theirs": []}
    await messages(report)
    await closings(report)
    await refused(report)
    print(json.dumps(report))


asyncio.run(main())
