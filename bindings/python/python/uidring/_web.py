"""What a web program answers where there is no id for now."""

from __future__ import annotations

from typing import Optional

from ._errors import UnavailableError

STATUS = 503
#: In seconds.
RETRY_AFTER = "1"
#: The reason names the store, which is for operators.
TEXT = "there is no id for now; try again"


def is_unavailable(error: Optional[BaseException]) -> bool:
    """Whether it is an `UnavailableError`, also within an error of SQLAlchemy's."""
    return isinstance(error, UnavailableError) or isinstance(
        getattr(error, "orig", None), UnavailableError
    )
