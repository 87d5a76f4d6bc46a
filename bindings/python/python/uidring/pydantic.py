"""Ids in models of pydantic 2, and so in FastAPI's requests and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict

from pydantic_core import core_schema

from ._ids import read_id

if TYPE_CHECKING:
    from typing_extensions import Annotated
else:
    from typing import Annotated

__all__ = ["Uid"]


class _Uid:
    """How pydantic reads and writes an id."""

    @staticmethod
    def __get_pydantic_core_schema__(source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            read_id,
            serialization=core_schema.plain_serializer_function_ser_schema(
                str, return_schema=core_schema.str_schema(), when_used="json-unless-none"
            ),
        )

    @staticmethod
    def __get_pydantic_json_schema__(schema: Any, handler: Any) -> Dict[str, Any]:
        # Whoever makes a client of it is to have a text.
        return {"type": "string", "pattern": "^[0-9]{1,19}$", "examples": ["240510429044957184"]}


#: An id. It is an `int` in the program and a text in JSON, and is read from a text or a number.
Uid = Annotated[int, _Uid]
