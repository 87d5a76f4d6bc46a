"""What a program answers where there is no id for now."""

from __future__ import annotations

from typing import Optional

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from .._errors import UnavailableError


class UnavailableMiddleware(MiddlewareMixin):
    """Answers 503 with `Retry-After` where a view has met an `UnavailableError`."""

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> Optional[HttpResponse]:
        if not isinstance(exception, UnavailableError):
            return None
        # The reason names the store, which is for operators.
        return HttpResponse(
            "there is no id for now; try again\n",
            status=503,
            content_type="text/plain; charset=utf-8",
            headers={"Retry-After": "1"},
        )
