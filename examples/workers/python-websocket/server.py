"""A load-balanced worker that is a WebSocket server: it says what it hears, on the port that it is told. See README.md."""

import asyncio
import os
import signal
from http import HTTPStatus

from websockets.asyncio.server import serve

HEALTH_PATH = os.environ.get("HEALTH_CHECK_PATH", "/ping")


def answer_health(connection, request):
    """A plain answer to a plain GET, on the port of the WebSockets; None lets a handshake go on."""
    if request.path == HEALTH_PATH:
        return connection.respond(HTTPStatus.OK, "ready\n")


async def talk(socket):
    async for message in socket:
        await socket.send(message)


async def main():
    async with serve(talk, "0.0.0.0", int(os.environ.get("PORT", "80")), process_request=answer_health) as server:
        # Asked to leave, it says goodbye to whoever is still there (1001).
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.close)
        await server.wait_closed()


asyncio.run(main())
