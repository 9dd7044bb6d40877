"""
A worker on FastAPI and uvicorn: it does what `talks-ws` does, but for what this interface has no words for. `/events` goes on
for as long as somebody listens, and whoever leaves is written down.
"""

import asyncio
import json
import os

import uvicorn
from fastapi import FastAPI, Request, WebSocket, WebSocketDisconnect
from fastapi.responses import PlainTextResponse, StreamingResponse

PROTOCOLS = ["talk.v2", "talk.v1"]
MESSAGE_MAX_BYTES = 4 * 1024 * 1024

app = FastAPI()


def note(name, line):
    with open(os.path.join(os.environ["FOLDER"], name), "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@app.get("/ping")
async def ping():
    return PlainTextResponse("pong")


@app.get("/events")
async def events(nonce: str):
    async def each():
        try:
            for number in range(1_000_000):
                yield f"id: {number}\ndata: event {number}\n\n"
                await asyncio.sleep(0.05)
        finally:
            note("left.jsonl", {"nonce": nonce})

    return StreamingResponse(each(), media_type="text/event-stream")


@app.api_route("/mirror", methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def mirror(request: Request):
    async def pieces():
        async for piece in request.stream():
            yield piece

    return StreamingResponse(pieces(), headers={"X-Method": request.method, "X-Query": request.url.query})


@app.websocket("/refuse")
async def refuse(socket: WebSocket):
    await socket.send_denial_response(PlainTextResponse("not you\n", 403, {"X-Why": "a test"}))


@app.websocket("/talk")
async def talk(socket: WebSocket):
    offered = socket.scope["subprotocols"]
    await socket.accept(subprotocol=next((each for each in PROTOCOLS if each in offered), None))
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message["code"], message.get("reason"))
            text = message.get("text")
            if text is None:
                await socket.send_bytes(message["bytes"])
            elif text.startswith("!close "):
                _, code, *reason = text.split(" ")
                await socket.close(int(code), " ".join(reason))
            else:
                await socket.send_text(text)
    except WebSocketDisconnect as end:
        note("closed.jsonl", {"nonce": socket.query_params.get("nonce"), "code": end.code, "reason": end.reason or ""})


if __name__ == "__main__":
    uvicorn.run(app, host="0.0.0.0", port=int(os.environ["PORT"]), ws_max_size=MESSAGE_MAX_BYTES)
