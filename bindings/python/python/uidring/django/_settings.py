"""What the settings of a project say about ids."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import quote, urlencode

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS

from .. import _process
from .._uidring import _options

#: What the setting UIDRING may have beside the options of `UidGenerator.open`.
_WHICH = ("address", "worker_id")

#: Of each kind of database, the parameter of an address for an option of its driver.
_PARAMETERS: Dict[str, Dict[str, str]] = {
    "postgres": {
        name: name for name in ("sslmode", "sslrootcert", "sslcert", "sslkey", "passfile")
    },
    "mysql": {"ssl_mode": "ssl-mode"},
}
#: The options of drivers that name the server, or its password, where an address cannot.
_ELSEWHERE = ("service", "read_default_file", "read_default_group", "unix_socket")
_EXAMPLE = 'UIDRING = {"address": "/srv/uidring.db"}'
_BY_ITSELF = f"name the store itself: {_EXAMPLE}"


def options() -> Dict[str, Any]:
    """The setting UIDRING, which may be missing, with names as those of `uidring.configure`."""
    given = getattr(settings, "UIDRING", None)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ImproperlyConfigured(
            f"the setting UIDRING is a dict, and not {type(given).__name__}: {_EXAMPLE}"
        )
    return {_spelled(name): value for name, value in given.items()}


def _spelled(name: str) -> str:
    """A name as `uidring.configure` has it, if it is one that says where worker ids come from."""
    return next((which for which in _WHICH if _is_same(name, which)), name.lower())


def default_address() -> str:
    """The address of the default database, in which the store is if the setting names none.

    In tests, Django has another one by then, so it is read when the generator is opened.
    """
    return address_of(settings.DATABASES.get(DEFAULT_DB_ALIAS, {}))


def address_of(database: Mapping[str, Any]) -> str:
    """The address of a database as Django describes it."""
    engine = str(database.get("ENGINE", ""))
    kind = _kind_of(engine)
    host = str(database.get("HOST") or "")
    given: Mapping[str, Any] = database.get("OPTIONS") or {}
    elsewhere = [name for name in _ELSEWHERE if name in given]
    if kind is None:
        raise ImproperlyConfigured(
            f"ids cannot come from the default database, which is of {engine or 'no engine'}; "
            f"{_BY_ITSELF}"
        )
    login = [quote(str(database.get(name) or ""), safe="") for name in ("USER", "PASSWORD")]
    user, password = login
    what = None
    if elsewhere:
        what = f"an option {elsewhere[0]}"
    elif not host or host.startswith("/"):
        what = "no HOST that is a name"
    elif password and not user:
        what = "a PASSWORD and no USER"
    if what:
        raise ImproperlyConfigured(
            f"the default database has {what}, so its address is not known; {_BY_ITSELF}"
        )
    port = f":{database['PORT']}" if database.get("PORT") else ""
    if ":" in host:
        host = f"[{host}]"
    at = f"{':'.join(filter(None, login))}@" if user else ""
    name = quote(str(database.get("NAME", "")), safe="")
    return f"{kind}://{at}{host}{port}/{name}{_query(kind, given)}"


def _kind_of(engine: str) -> Optional[str]:
    # Those of GeoDjango and others are named so as well.
    last = engine.rsplit(".", 1)[-1]
    if last in ("postgresql", "postgis"):
        return "postgres"
    return "mysql" if last == "mysql" else None


def _query(kind: str, given: Mapping[str, Any]) -> str:
    known = _PARAMETERS[kind]
    found = {known[name]: str(value) for name, value in given.items() if name in known}
    tls = given.get("ssl")
    if kind == "mysql" and isinstance(tls, Mapping) and tls:
        found.setdefault("require_ssl", "true")
        files = [name for name in ("ca", "cert", "key") if name in tls]
        found.update({f"ssl-{name}": str(tls[name]) for name in files})
    return f"?{urlencode(found, quote_via=quote)}" if found else ""


def checked(**_: Any) -> List[checks.CheckMessage]:
    """Whether the settings say where worker ids come from, by names that there are."""
    given = options()
    known = [*_WHICH, *_options("UidGenerator.open")]
    wrong = [name for name in given if not any(_is_same(name, other) for other in known)]
    found: List[checks.CheckMessage] = [
        checks.Error(
            f"The setting UIDRING has the name {name!r}, which means nothing.",
            hint=f"The names are {', '.join(sorted(known))}.",
            id="uidring.E002",
        )
        for name in wrong
    ]
    if not names_store(given):
        try:
            default_address()
        except ImproperlyConfigured as error:
            text = str(error)
            found.append(checks.Error(f"{text[0].upper()}{text[1:]}.", id="uidring.E001"))
    return found


def _is_same(name: str, other: str) -> bool:
    """Whether both are spellings of one name, as the library reads them."""
    one, two = ("".join(filter(str.isalnum, each)).lower() for each in (name, other))
    return one == two


def configure() -> None:
    """Says where the generator of this process gets its worker id from."""
    given = options()
    if names_store(given):
        _process.configure(**given)
    else:
        others = {name: value for name, value in given.items() if name not in _WHICH}
        _process.configure_by(default_address, others)


def names_store(given: Mapping[str, Any]) -> bool:
    """Whether the setting says where worker ids come from."""
    return any(given.get(name) is not None for name in _WHICH)
