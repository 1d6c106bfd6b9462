"""A client of an application in the same process: one request at a time, cookies kept."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MARK = "marks-the-parts"


@dataclass(frozen=True)
class Reply:
    """What the application answered."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


@dataclass
class Client:
    """Requests to an application, as from a browser at the address http://here."""

    app: Any
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, **more: Any) -> Reply:
        return self.request("POST", path, **more)

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
        files: Mapping[str, tuple[str, bytes]] | None = None,
        json: Any = None,
    ) -> Reply:
        body, kind = _body(data, files, json)
        sent = {"host": "here", "content-length": str(len(body)), **(headers or {})}
        if kind:
            sent["content-type"] = kind
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        reply = asyncio.run(_exchange(self.app, method, path, sent, body))
        found = re.match(r"([^=]+)=([^;]*)", reply.headers.get("set-cookie", ""))
        if found is not None:
            self.cookies[found[1]] = found[2].strip('"')
        return reply


def _body(
    data: Mapping[str, str] | None, files: Mapping[str, tuple[str, bytes]] | None, plain: Any
) -> tuple[bytes, str]:
    if plain is not None:
        return json.dumps(plain).encode(), "application/json"
    if files is None:
        form = urllib.parse.urlencode(data or {}).encode()
        return form, "application/x-www-form-urlencoded" if data else ""
    parts = b""
    for name, value in (data or {}).items():
        parts += f'--{_MARK}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n'.encode()
        parts += value.encode() + b"\r\n"
    for name, (file, content) in files.items():
        said = file.replace("\n", "%0A").replace('"', "%22")
        head = f'form-data; name="{name}"; filename="{said}"'
        parts += f"--{_MARK}\r\ncontent-disposition: {head}\r\n\r\n".encode() + content + b"\r\n"
    return parts + f"--{_MARK}--\r\n".encode(), f"multipart/form-data; boundary={_MARK}"


async def _exchange(
    app: Any, method: str, path: str, headers: Mapping[str, str], body: bytes
) -> Reply:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("here", 80),
    }
    parts = [body[at : at + 65536] for at in range(0, len(body), 65536)] or [b""]
    said: dict[str, Any] = {"content": b""}
    ended = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if not parts:
            await ended.wait()
            return {"type": "http.disconnect"}
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            said["status"] = message["status"]
            said["headers"] = {k.decode().lower(): v.decode() for k, v in message["headers"]}
        else:
            said["content"] += message.get("body", b"")
            if not message.get("more_body"):
                ended.set()

    await app(scope, receive, send)
    return Reply(said["status"], said["headers"], said["content"])
