"""A load-balanced worker: plain HTTP and a WebSocket, on the port that it is told."""

import asyncio
import os

import uvicorn
from fastapi import FastAPI, Request, WebSocket, WebSocketDisconnect

app = FastAPI()


@app.get("/ping")
async def ping():
    """Health: 200 says that requests may come; 204 would say that it is not ready yet."""
    return {"status": "ready"}


@app.post("/echo")
async def echo(request: Request):
    body = await request.json()
    await asyncio.sleep(float(body.get("sleep", 0)))
    return {"echo": body, "worker": os.environ.get("RUNPOD_POD_ID")}


@app.websocket("/ws")
async def talk(socket: WebSocket):
    await socket.accept()
    try:
        while True:
            await socket.send_text(await socket.receive_text())
    except WebSocketDisconnect:
        pass


if __name__ == "__main__":
    uvicorn.run(app, host="0.0.0.0", port=int(os.environ.get("PORT", "80")))
