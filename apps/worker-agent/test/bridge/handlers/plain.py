"""A plain function that works on one job at a time; `input.do` says what becomes of it."""

import threading
import time

import runpod


def handler(job):
    asked = job["input"]
    what = asked["do"]
    if what == "echo":
        return {"echo": asked}
    if what == "raise":
        raise ValueError("raised on purpose")
    if what == "error":
        return {"error": "told by the handler", "detail": 7}
    if what == "progress":
        for step in range(2):
            before = set(threading.enumerate())
            runpod.serverless.progress_update(job, {"step": step})
            # It is sent from a thread of its own, which neither the next one nor the result must overtake.
            for sender in set(threading.enumerate()) - before:
                sender.join(timeout=30)
            time.sleep(1)
        return "after progress"
    if what == "large":
        return "é" * asked["characters"]
    if what == "refresh":
        return {"refresh_worker": True, "answer": "then replace me"}
    raise RuntimeError(f"unknown: {what}")


runpod.serverless.start({"handler": handler})
