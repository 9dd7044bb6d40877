"""What published load-balanced workers do and the samples do not: health on a port of its own, at any path, and 204 with a body.

It is ready at once, or with WAITS once there is a file /tmp/ready.
"""

import asyncio
import os
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

PORT = int(os.environ.get("PORT", "80"))
HEALTH_PORT = int(os.environ.get("PORT_HEALTH", PORT))

app = FastAPI()
health_app = app if HEALTH_PORT == PORT else FastAPI()


@app.get("/who")
async def who(request: Request):
    return {"user": os.getuid(), "port": request.scope["server"][1], "caller": request.client.host}


@health_app.get("/ping")
@health_app.get("/v1/health")
async def health():
    if "WAITS" in os.environ and not Path("/tmp/ready").exists():
        return JSONResponse({"status": "initializing"}, status_code=204)
    return {"status": "healthy"}


async def main():
    programs = {PORT: app, HEALTH_PORT: health_app}
    servers = [uvicorn.Server(uvicorn.Config(each, host="0.0.0.0", port=port)) for port, each in programs.items()]
    await asyncio.gather(*(server.serve() for server in servers))


asyncio.run(main())
