"""Driver of the conformance test; see clients/conformance/README.md."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).parent / "src"))

import httpx  # noqa: E402
import offhook  # noqa: E402

SETTINGS = {
    "apiKey": "api_key",
    "baseUrl": "base_url",
    "timeoutSeconds": "timeout",
    "maxRetries": "max_retries",
    "maxRetryAfterSeconds": "max_retry_after",
    "maxResponseBytes": "max_response_bytes",
}


class Driver:
    """The client that was opened last, blocking or asyncio."""

    def __init__(self) -> None:
        self.client: Any = None
        self.is_async = False
        # One for all: making one reads the certificates of the machine.
        self.http = httpx.Client()
        self.async_http = httpx.AsyncClient()

    async def run(self, command: Dict[str, Any]) -> Any:
        do = command["do"]
        if do == "open":
            return self.open(command)
        if do == "verify":
            return offhook.webhooks.verify(
                command["body"], command["headers"], command["secret"], now=command["now"]
            )
        if do == "call":
            return await self.call(command)
        if do in ("list", "stream"):
            count = command["max"] if do == "list" else command["count"]
            return await self.first(invoke(self.client, command), count)
        raise ValueError(f'Cannot do "{do}": unknown command')

    def open(self, command: Dict[str, Any]) -> None:
        settings = {SETTINGS[name]: value for name, value in command.items() if name in SETTINGS}
        self.is_async = command.get("flavour") == "asyncio"
        if self.is_async:
            self.client = offhook.AsyncOffhook(http_client=self.async_http, **settings)
        else:
            self.client = offhook.Offhook(http_client=self.http, **settings)

    async def close(self) -> None:
        self.http.close()
        await self.async_http.aclose()

    async def call(self, command: Dict[str, Any]) -> Any:
        value = invoke(self.client, command)
        if self.is_async:
            value = await value
        if isinstance(value, (offhook.Page, offhook.AsyncPage)):
            return value.raw
        if isinstance(value, (offhook.Download, offhook.AsyncDownload)):
            whole = value.read()
            content: bytes = await whole if self.is_async else whole  # type: ignore[misc]
            sha256 = hashlib.sha256(content).hexdigest()
            return {
                "contentType": value.content_type,
                "sizeBytes": len(content),
                "sha256": sha256,
            }
        return value

    async def first(self, items: Any, count: int) -> List[Any]:
        if not self.is_async:
            first = list(itertools.islice(items, count))
        else:
            first = []
            async for item in items:
                first.append(item)
                if len(first) == count:
                    break
        if isinstance(items, offhook.LiveEvents):
            items.close()
        if isinstance(items, offhook.AsyncLiveEvents):
            await items.aclose()
        return first


def invoke(client: Any, command: Dict[str, Any]) -> Any:
    """Calls the method that the command names."""
    resource, verb = (snake(name) for name in command["operation"].split("."))
    method = getattr(getattr(client, resource), verb)
    words = list(command.get("path", []))
    if "body" in command:
        words.append(command["body"])
    named = {parameter(name): value for name, value in command.get("query", {}).items()}
    given = dict(command.get("options", {}))
    if "ifMatch" in given:
        named["if_match"] = given.pop("ifMatch")
    if "timeoutSeconds" in given:
        given["timeout"] = given.pop("timeoutSeconds")
    return method(*words, **named, options={snake(name): value for name, value in given.items()})


def parameter(name: str) -> str:
    return "from_" if name == "from" else snake(name)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def error_of(error: offhook.OffhookError) -> Dict[str, Any]:
    return {
        "kind": re.sub("Error$", "", type(error).__name__),
        "message": str(error),
        "status": error.status,
        "code": getattr(error, "code", None),
        "requestId": getattr(error, "request_id", None),
        "retryAfterSeconds": getattr(error, "retry_after_seconds", None),
        "details": getattr(error, "details", []),
        "reason": getattr(error, "reason", None),
    }


async def main() -> None:
    driver = Driver()
    for line in sys.stdin:
        try:
            answer: Dict[str, Any] = {"ok": True, "value": await driver.run(json.loads(line))}
        except offhook.OffhookError as error:
            answer = {"ok": False, "error": error_of(error)}
        print(json.dumps(answer), flush=True)
    await driver.close()


asyncio.run(main())
