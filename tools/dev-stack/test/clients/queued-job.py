"""Reads a job that waits with the published Python client, both of its flavours, and prints what it saw as JSON."""
import asyncio
import json
import os
import sys

import aiohttp
import runpod
from runpod import AsyncioEndpoint

runpod.api_key = os.environ["API_KEY"]
seen = {}

request = runpod.Endpoint(sys.argv[1]).run({"message": "ahoy"})
seen["status"] = request.status()
seen["output"] = request.output(timeout=0)
request.cancel()
seen["cancelled"] = request.status()


async def asynchronously():
    async with aiohttp.ClientSession() as session:
        job = await AsyncioEndpoint(sys.argv[1], session).run({"message": "ahoy"})
        seen["asyncio"] = [await job.status()]
        await job.cancel()
        seen["asyncio"].append(await job.status())


asyncio.run(asynchronously())
print(json.dumps(seen))
