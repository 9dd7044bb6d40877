"""A worker that answers like an OpenAI server, without a model: it says back what it was told. See README.md.

Its form is the one of the vLLM worker: `openai_route` and `openai_input` in, raw event-stream text or one object out.
"""

import asyncio
import json
import time

import runpod

MODEL = "parrot"
DIMENSIONS = 4


class Refused(Exception):
    def __init__(self, status, kind, message):
        super().__init__(message)
        self.body = {"message": message, "type": kind, "param": None, "code": status}


def models():
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "berth"}]}


def embeddings(body):
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [
        {"object": "embedding", "index": n, "embedding": [len(text) / 10**place for place in range(DIMENSIONS)]}
        for n, text in enumerate(texts)
    ]
    return {"object": "list", "model": MODEL, "data": data, "usage": usage(*texts)}


def usage(prompt, *answers):
    given, made = len(str(prompt).split()), sum(len(text.split()) for text in answers)
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def told(route, body):
    return body["messages"][-1]["content"] if route == "/v1/chat/completions" else body["prompt"]


def answer(route, body, text, piece=None):
    """One whole answer, or with `piece` (text or end) one chunk of a streamed one."""
    is_chat = route == "/v1/chat/completions"
    end = "stop" if piece in (None, "end") else None
    choice = {"index": 0, "finish_reason": end, "logprobs": None}
    if is_chat and piece is None:
        choice["message"] = {"role": "assistant", "content": text}
    elif is_chat:
        choice["delta"] = {"role": "assistant", "content": text}
    else:
        choice["text"] = text
    kind = "chat.completion" if is_chat else "text_completion"
    shape = {"id": "answer-1", "object": kind, "created": int(time.time()), "model": MODEL, "choices": [choice]}
    if is_chat and piece is not None:
        shape["object"] = "chat.completion.chunk"
    if piece is None:
        shape["usage"] = usage(told(route, body), text)
    return shape


async def streamed(route, body):
    """Chunks as they would leave a server: word by word, `delay` seconds apart."""
    words = told(route, body).split()
    for n, word in enumerate(words):
        await asyncio.sleep(float(body.get("delay", 0)))
        yield answer(route, body, word if n == 0 else f" {word}", "text")
    yield answer(route, body, "", "end")


def check(route, body):
    if route not in ("/v1/models", "/v1/chat/completions", "/v1/completions", "/v1/embeddings"):
        raise Refused(404, "NotFoundError", f"There is nothing at {route}.")
    if body is not None and body.get("model") != MODEL:
        raise Refused(404, "NotFoundError", f"The model `{body.get('model')}` does not exist.")
    if body is not None and "refuse" in body:
        raise Refused(int(body["refuse"]), "Refused", "as you wish")


async def handler(job):
    """`openai_input.form` chooses between `text` (vLLM worker of today) and `objects` (of 2024)."""
    task = job["input"]
    route, body = task["openai_route"], task.get("openai_input")
    is_text = body is None or body.get("form", "text") == "text"
    try:
        check(route, body)
        if body is None:
            yield models()
        elif route == "/v1/embeddings":
            yield embeddings(body)
        elif not body.get("stream"):
            yield answer(route, body, told(route, body))
        else:
            async for piece in streamed(route, body):
                if not is_text:
                    yield [piece]
                    continue
                text = f"data: {json.dumps(piece)}\n\n"
                # Text comes in whatever pieces the network made of it.
                yield text[: len(text) // 2]
                yield text[len(text) // 2 :]
            if is_text:
                yield "data: [DONE]\n\n"
    except Refused as refused:
        if is_text:
            status = refused.body["code"]
            message = f"vLLM returned HTTP {status}: {json.dumps({'error': refused.body})}"
            yield {"error": {"message": message, "type": "worker_error", "code": None}}
        else:
            yield {"object": "error", **refused.body}


runpod.serverless.start(
    {"handler": handler, "return_aggregate_stream": True, "concurrency_modifier": lambda current: 8}
)
