"""For FastAPI, Starlette and all else that speaks ASGI.

    uidring.configure("/srv/uidring.db")
    app = FastAPI(lifespan=uidring.asgi.lifespan)
    app.add_middleware(uidring.asgi.UnavailableMiddleware)
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, Callable, MutableMapping

from . import _process, _web

__all__ = ["UnavailableMiddleware", "lifespan"]

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class UnavailableMiddleware:
    """Answers 503 with `Retry-After` where a request has met an `UnavailableError`, also one that
    SQLAlchemy has wrapped. The program's own handlers of exceptions go first."""

    def __init__(self, app: _App) -> None:
        self.app = app

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        has_begun = False

        async def pass_on(message: _Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, pass_on)
        except Exception as error:
            if scope["type"] != "http" or has_begun or not _web.is_unavailable(error):
                raise
            await _refuse(send)


async def _refuse(send: _Send) -> None:
    body = json.dumps({"detail": _web.TEXT}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", _web.RETRY_AFTER.encode()),
    ]
    await send({"type": "http.response.start", "status": _web.STATUS, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def lifespan(app: object = None) -> AsyncIterator[None]:
    """Opens the generator of the process when a program starts, so that no request waits for the
    store, and closes it at the end. A program with a lifespan of its own enters this one in it."""
    await asyncio.to_thread(_process.generator)
    try:
        yield
    finally:
        await asyncio.to_thread(_process.close)
