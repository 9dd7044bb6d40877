"""Drives an endpoint with the published Python client, unmodified, and prints what it saw as one line of JSON."""
import json
import os
import sys
import time

import runpod

runpod.api_key = os.environ["API_KEY"]
endpoint = runpod.Endpoint(sys.argv[1])
seen = {}

request = endpoint.run({"message": "ahoy"})
seen["id"] = request.job_id
seen["output"] = request.output(timeout=240)
seen["status"] = request.status()

seen["run_sync"] = endpoint.run_sync({"message": "in sync"}, timeout=240)

slow = endpoint.run({"sleep": 60})
deadline = time.monotonic() + 60
while slow.status() == "IN_QUEUE" and time.monotonic() < deadline:
    time.sleep(0.2)
seen["before_cancel"] = slow.status()
slow.cancel()
seen["after_cancel"] = slow.status()

seen["health"] = endpoint.health()
print(json.dumps(seen))
