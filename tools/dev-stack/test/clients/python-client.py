"""Puts a published Python client through its operations, unmodified, and prints what each did as one line of JSON."""
import asyncio
import json
import os
import sys
import time

import runpod
from runpod import AsyncioEndpoint, AsyncioJob

runpod.api_key = os.environ["API_KEY"]
echo_id, stream_id = sys.argv[1:3]
echo = runpod.Endpoint(echo_id)
seen = {}


def until(job, status, seconds=60):
    deadline = time.monotonic() + seconds
    while job.status() != status and time.monotonic() < deadline:
        time.sleep(0.1)
    return job.status()


def run():
    job = echo.run({"message": "ahoy"})
    return {"output": job.output(timeout=60), "status": job.status()}


def run_sync():
    return echo.run_sync({"message": "in sync"}, timeout=60)


def wrapped_input():
    return echo.run_sync({"input": {"message": "wrapped"}}, timeout=60)


def failure():
    job = echo.run({"error": "wanted"})
    return {"status": until(job, "FAILED"), "output": job.output(timeout=5)}


def stream():
    job = runpod.Endpoint(stream_id).run({"chunks": 3})
    return {"chunks": list(job.stream()), "status": job.status()}


def cancel():
    job = echo.run({"sleep": 60})
    before = until(job, "IN_PROGRESS")
    job.cancel()
    return [before, job.status()]


def purge_queue():
    return sorted(echo.purge_queue())


def health():
    return sorted(echo.health()["jobs"]), sorted(echo.health()["workers"])


def unknown_job():
    try:
        runpod.endpoint.Job(echo_id, "no-such-job", runpod.endpoint.runner.RunPodClient()).status()
    except Exception as error:
        return str(getattr(getattr(error, "response", None), "status_code", error))


def wrong_key():
    runpod.api_key = "bk_wrong_key"
    try:
        runpod.Endpoint(echo_id).run({"message": "no"})
    except Exception as error:
        return type(error).__name__
    finally:
        runpod.api_key = os.environ["API_KEY"]


async def with_asyncio():
    import aiohttp

    async with aiohttp.ClientSession() as session:
        job: AsyncioJob = await AsyncioEndpoint(echo_id, session).run({"message": "async"})
        output = await job.output(timeout=60)
        slow = await AsyncioEndpoint(echo_id, session).run({"sleep": 60})
        await slow.cancel()
        return {"output": output, "status": await job.status(), "cancelled": await slow.status()}


async def stream_with_asyncio():
    import aiohttp

    async with aiohttp.ClientSession() as session:
        job = await AsyncioEndpoint(stream_id, session).run({"chunks": 3})
        return [chunk async for chunk in job.stream()]


FEATURES = [run, run_sync, wrapped_input, failure, stream, cancel, purge_queue, health, unknown_job, wrong_key]
for feature in FEATURES:
    seen[feature.__name__] = feature()
seen["asyncio"] = asyncio.run(with_asyncio())
# That of the older client has no way to end: it asks again for ever, whatever it is told.
if runpod.__version__ != "1.7.6":
    seen["asyncio_stream"] = asyncio.run(stream_with_asyncio())
print(json.dumps(seen))
