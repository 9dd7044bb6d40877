"""An asynchronous handler that works on three jobs side by side, and says how many were there at the same time."""

import asyncio

import runpod

present = 0


async def handler(job):
    global present
    asked = job["input"]
    present += 1
    most = present
    try:
        for _ in range(int(asked["seconds"] * 20)):
            await asyncio.sleep(0.05)
            most = max(most, present)
            if most >= asked.get("until", 99):
                # The others must see this one too before it goes.
                await asyncio.sleep(0.3)
                break
    finally:
        present -= 1
    return {"most": most}


runpod.serverless.start({"handler": handler, "concurrency_modifier": lambda current: 3})
