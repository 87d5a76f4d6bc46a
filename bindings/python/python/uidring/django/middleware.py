"""What a program answers where there is no id for now."""

from __future__ import annotations

from typing import Optional

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from .. import _web


class UnavailableMiddleware(MiddlewareMixin):
    """Answers 503 with `Retry-After` where a view has met an `UnavailableError`."""

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> Optional[HttpResponse]:
        if not _web.is_unavailable(exception):
            return None
        return HttpResponse(
            _web.TEXT + "\n",
            status=_web.STATUS,
            content_type="text/plain; charset=utf-8",
            headers={"Retry-After": _web.RETRY_AFTER},
        )
