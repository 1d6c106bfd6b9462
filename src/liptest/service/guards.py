"""What stands around every request: headers, the size of a body, where a form came from.

As plain ASGI: a policy without scripts of a page, nothing framed, nothing kept by caches.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

#: Most bytes of a request.
MOST_BODY = 1 << 20
#: Pages: styles, one script and forms of this service alone.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: A report: its own styles and drawings, in a box of its own; no script, no form, no network.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'; sandbox"
)
_HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-frame-options": b"DENY",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
    b"cache-control": b"no-store",
}


class _TooLarge(Exception):
    """The body goes on beyond the limit."""


def guard_app(app: App) -> App:
    """The application with headers on every answer, and a limit of every body."""

    async def run(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began = False
        read = 0

        async def count() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MOST_BODY:
                raise _TooLarge
            return message

        async def with_headers(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                given = {key.lower() for key, _ in message["headers"]}
                more = [pair for pair in _HEADERS.items() if pair[0] not in given]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        if _read_stated_length(scope) > MOST_BODY:
            await _refuse(with_headers)
            return
        try:
            await app(scope, count, with_headers)
        except _TooLarge:
            if not began:
                await _refuse(with_headers)

    return run


def _read_stated_length(scope: Message) -> int:
    for key, value in scope["headers"]:
        if key.lower() == b"content-length":
            return int(value) if value.isdigit() else MOST_BODY + 1
    return 0


async def _refuse(send: Send) -> None:
    text = f"the request has more than {MOST_BODY:,} bytes\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def is_own_form(origin: str | None, site: str | None, host: str | None) -> bool:
    """Whether a form can have come from a page of this service, as far as the browser says."""
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or (host is not None and origin.partition("://")[2] == host)
