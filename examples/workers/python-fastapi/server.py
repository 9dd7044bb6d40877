"""A load-balanced worker on FastAPI: plain HTTP on the port that it is told, and nothing of Berth in it. See README.md."""

import asyncio
import os
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse


async def load():
    """Stands for what a worker does before it is of use, such as reading a model."""
    await asyncio.sleep(float(os.environ.get("LOAD_SECONDS", "0")))


@asynccontextmanager
async def begin_loading(app):
    app.state.loading = asyncio.create_task(load())
    yield


app = FastAPI(lifespan=begin_loading)


@app.get("/ping")
async def ping():
    """Health: 204 says that it is not ready yet, 200 that requests may come; a load that failed raises here, which is 500."""
    if not app.state.loading.done():
        return Response(status_code=204)
    app.state.loading.result()
    return {"status": "ready"}


@app.post("/echo")
async def echo(request: Request):
    body = await request.json()
    await asyncio.sleep(float(body.get("sleep", 0)))
    return {"echo": body, "worker": os.environ.get("RUNPOD_POD_ID")}


@app.get("/count")
async def count(to: int = 3):
    """Server-sent events, each of them sent when there is one."""

    async def events():
        for number in range(to):
            yield f"data: {number}\n\n"
            await asyncio.sleep(0.5)

    return StreamingResponse(events(), media_type="text/event-stream")


if __name__ == "__main__":
    uvicorn.run(app, host="0.0.0.0", port=int(os.environ.get("PORT", "80")))
