"""A worker on the official SDK. Its input says how it behaves; see README.md."""

import asyncio
import sys

import runpod


async def echo(job):
    """Returns what it was given, after `sleep` seconds; fails with the text of `error`."""
    task = job["input"]
    await asyncio.sleep(float(task.get("sleep", 0)))
    if "error" in task:
        raise RuntimeError(task["error"])
    return {"echo": task}


async def stream(job):
    """Yields `chunks` pieces, each after `sleep` seconds; fails with the text of `error` after the last."""
    task = job["input"]
    for index in range(int(task.get("chunks", 1))):
        await asyncio.sleep(float(task.get("sleep", 0)))
        yield {"index": index, "echo": task}
    if "error" in task:
        raise RuntimeError(task["error"])


# The SDK looks at the function to tell the two kinds apart, so one worker is of one kind: the endpoint's `args` say which.
if "stream" in sys.argv[1:]:
    runpod.serverless.start({"handler": stream, "return_aggregate_stream": True})
else:
    runpod.serverless.start({"handler": echo})
