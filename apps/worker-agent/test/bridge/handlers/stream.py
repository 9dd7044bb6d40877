"""A generator; `input.do` says what it yields."""

import os

import runpod


def handler(job):
    asked = job["input"]
    if asked.get("do") == "large":
        yield "ä" * asked["characters"]
        yield {"items": list(range(asked["items"]))}
        return
    for word in asked["words"]:
        yield word
    if asked.get("do") == "raise":
        raise ValueError("raised in the middle")
    if asked.get("do") == "error":
        yield {"error": "yielded error", "lost": True}


runpod.serverless.start(
    {"handler": handler, "return_aggregate_stream": os.environ.get("AGGREGATE") == "1"}
)
