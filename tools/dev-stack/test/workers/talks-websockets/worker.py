"""A worker that serves WebSockets with the public package `websockets`: it does what `talks-ws` does."""

import asyncio
import json
import os
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed

PROTOCOLS = ["talk.v2", "talk.v1"]
MESSAGE_MAX_BYTES = 4 * 1024 * 1024


async def obey(socket, order, words):
    if order == "close":
        code, *reason = words
        await socket.close(int(code), " ".join(reason))
    elif order == "drop":
        socket.transport.abort()
    elif order == "fragments":
        await socket.send(words)
    elif order == "ping":
        await (await socket.ping(words[0]))
        await socket.send(f"pong {words[0]}")
    elif order == "what":
        names = [each.name for each in socket.protocol.extensions]
        said = {"protocol": socket.subprotocol, "isDeflated": names == ["permessage-deflate"]}
        await socket.send(json.dumps(said))


async def talk(socket):
    try:
        async for message in socket:
            if isinstance(message, str) and message.startswith("!"):
                order, *words = message[1:].split(" ")
                # Beside, for the answer to a ping is read here.
                socket.orders = asyncio.create_task(obey(socket, order, words))
            else:
                await socket.send(message)
    except ConnectionClosed:
        pass
    nonce = parse_qs(urlsplit(socket.request.path).query).get("nonce", [None])[0]
    with open(os.path.join(os.environ["FOLDER"], "closed.jsonl"), "a", encoding="utf-8") as closed:
        line = {"nonce": nonce, "code": socket.close_code, "reason": socket.close_reason}
        closed.write(json.dumps(line) + "\n")


def answer(socket, request):
    path = urlsplit(request.path).path
    if path == "/talk":
        return None
    if path == "/ping":
        return socket.respond(200, "pong")
    response = socket.respond(403, "not you\n")
    response.headers["X-Why"] = "a test"
    return response


def choose(_socket, offered):
    return next((each for each in PROTOCOLS if each in offered), None)


async def main():
    port = int(os.environ["PORT"])
    options = {"select_subprotocol": choose, "max_size": MESSAGE_MAX_BYTES}
    async with serve(talk, "", port, process_request=answer, **options) as server:
        await server.serve_forever()


asyncio.run(main())
