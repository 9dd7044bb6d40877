"""One handler for every way in which a job can end; `input.do` says which."""

import asyncio
import os
import threading
import time

import runpod


async def handler(job):
    asked = job["input"]
    what = asked.get("do", "echo")
    if what == "echo":
        return asked
    if what == "job":
        return {key: value for key, value in job.items()}
    if what == "empty":
        return {}
    if what == "none":
        return None
    if what == "error":
        return {"error": "a handler's own error", "detail": 7}
    if what == "error-object":
        return {"error": {"code": 42}}
    if what == "raise":
        raise ValueError("raised on purpose")
    if what == "nan":
        return {"value": float("nan"), "text": "NaN stays in a string"}
    if what == "progress":
        for step in range(3):
            before = set(threading.enumerate())
            runpod.serverless.progress_update(job, {"step": step})
            # It is sent from a thread of its own, which the next one must not overtake.
            for sender in set(threading.enumerate()) - before:
                await asyncio.to_thread(sender.join, 30)
            await asyncio.sleep(0.3)
        return "after progress"
    if what == "refresh":
        return {"refresh_worker": True, "answer": "then replace me"}
    if what == "large":
        return "é" * asked["characters"]
    if what == "sleep":
        await asyncio.sleep(asked["seconds"])
        return {"slept": asked["seconds"]}
    if what == "block":
        time.sleep(asked["seconds"])
        return {"blocked": asked["seconds"]}
    if what == "env":
        return {name: os.environ.get(name) for name in asked["names"]}
    raise RuntimeError(f"unknown: {what}")


settings = {"handler": handler}
if os.environ.get("CONCURRENCY"):
    settings["concurrency_modifier"] = lambda current: int(os.environ["CONCURRENCY"])
if os.environ.get("REFRESH"):
    settings["refresh_worker"] = True
runpod.serverless.start(settings)
