"""Drives an endpoint with the published OpenAI client, unmodified, and prints what it saw as one line of JSON."""
import json
import os
import sys
import time
import urllib.request

import openai

run_url, endpoint = os.environ["RUN_URL"], sys.argv[1]
client = openai.OpenAI(
    base_url=f"{run_url}/v2/{endpoint}/openai/v1", api_key=os.environ["API_KEY"], max_retries=0, timeout=280
)
seen = {}
ahoy = {"model": "parrot", "messages": [{"role": "user", "content": "one two three four five"}]}


def stream(**more):
    """Each piece with the time at which it came."""
    pieces = client.chat.completions.create(**ahoy, stream=True, **more)
    return [(chunk.choices[0].delta.content, time.monotonic()) for chunk in pieces]


def error(call):
    try:
        call()
    except openai.APIStatusError as failure:
        return {"class": type(failure).__name__, "status": failure.status_code, "body": failure.body}
    return None


seen["models"] = [model.id for model in client.models.list()]
seen["chat"] = client.chat.completions.create(**ahoy).choices[0].message.content
pieces = stream(extra_body={"delay": 0.4})
seen["streamed"] = [text for text, _ in pieces]
seen["gaps"] = [after - before for (_, before), (_, after) in zip(pieces, pieces[1:-1])]
seen["objects"] = [text for text, _ in stream(extra_body={"form": "objects"})]
seen["completion"] = client.completions.create(model="parrot", prompt="ahoy there").choices[0].text
seen["embedding"] = client.embeddings.create(model="parrot", input=["a", "bb"], encoding_format="float").data[1].embedding

other = {**ahoy, "model": "none"}
seen["no_model"] = error(lambda: client.chat.completions.create(**other))
seen["no_model_streamed"] = error(lambda: client.chat.completions.create(**other, stream=True))
objects = {"form": "objects"}
seen["no_model_objects"] = error(lambda: client.chat.completions.create(**other, extra_body=objects))
seen["refused"] = error(lambda: client.chat.completions.create(**ahoy, extra_body={"refuse": 429}))
seen["broken"] = error(lambda: client.chat.completions.create(model="parrot", messages=[]))
seen["no_key"] = error(lambda: client.with_options(api_key="bk_nobody").models.list())

slow = client.chat.completions.create(**ahoy, stream=True, extra_body={"delay": 20})
job = slow.response.headers["berth-job-id"]
slow.close()
status = urllib.request.Request(
    f"{run_url}/v2/{endpoint}/status/{job}", headers={"authorization": os.environ["API_KEY"]}
)
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    with urllib.request.urlopen(status) as answer:
        seen["closed"] = json.load(answer)["status"]
    if seen["closed"] == "CANCELLED":
        break
    time.sleep(0.1)
print(json.dumps(seen))
