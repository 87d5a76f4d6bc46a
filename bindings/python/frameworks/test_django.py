"""A project of Django's, in `shop`, whose ids are uidring's."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Iterator

import django
import pytest
from django.core import checks
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.writer import MigrationWriter
from django.db.utils import ConnectionHandler
from django.forms import modelform_factory
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext, override_settings

import uidring
from uidring.django import UidField, next_number
from uidring.django._settings import address_of

#: Beyond what JavaScript's numbers hold.
BIG = 2**60 + 1


@pytest.fixture(scope="session", autouse=True)
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project with its tables, which its migrations make."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "shop_migrations").mkdir()
    (folder / "shop_migrations" / "__init__.py").touch()
    sys.path.insert(0, str(folder))
    os.environ["DJANGO_SETTINGS_MODULE"] = "shop.settings"
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = str(folder / "shop.db")
    # A series of gapless numbers is made by a program that has not opened the file.
    create = "import sys, uidring; uidring.Series.open(sys.argv[1]).create("
    create += "'invoices', 'R{n:4}', gapless=True)"
    subprocess.run([sys.executable, "-c", create, str(folder / "shop.db")], check=True)
    django.setup()
    call_command("makemigrations", "shop", verbosity=0)
    call_command("migrate", verbosity=0)
    yield folder
    connection.close()
    sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def rolled_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test stores is gone after it, as in Django's TestCase."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def shop() -> Any:
    return import_module("shop.models")


def test_a_migration_has_the_field_by_its_public_name(project: Path) -> None:
    text = (project / "shop_migrations" / "0001_initial.py").read_text()
    assert "import uidring.django\n" in text
    assert text.count("('id', uidring.django.UidField(primary_key=True, serialize=False))") == 3
    found = re.search(r"\('foreign_id', uidring.django.UidField\((.*?)\)\)", text)
    assert found and found[1] == "blank=True, default=None, null=True"
    # What is there is what the models say.
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"primary_key": True},
        {"unique": False},
        {"editable": True},
        {"default": None, "null": True},
        {"default": None, "null": True, "unique": True, "editable": False},
        {"default": 5, "db_index": True},
        {"primary_key": True, "editable": True},
    ],
)
def test_a_field_is_made_again_from_what_a_migration_says(options: dict[str, Any]) -> None:
    field: Any = UidField(**options)
    _, path, args, kwargs = field.deconstruct()
    assert (path, list(args)) == ("uidring.django.UidField", [])
    assert MigrationWriter.serialize(field)[0].startswith("uidring.django.UidField(")
    again = field.clone()
    for name in ("default", "editable", "unique", "primary_key", "null", "db_index"):
        assert getattr(again, name) == getattr(field, name), name
    assert set(kwargs) <= set(options)


def test_the_function_is_a_default_of_any_field() -> None:
    field: Any = models.BigIntegerField(default=uidring.take)
    text, imports = MigrationWriter.serialize(field)
    assert (text, "import uidring" in imports) == (
        "models.BigIntegerField(default=uidring.take)",
        True,
    )


def test_an_object_has_its_id_before_it_is_stored() -> None:
    ada = shop().Customer(name="Ada")
    assert uidring.generator().parts(ada.id).worker == 7
    with CaptureQueriesContext(connection) as queries:
        ada.save()
    # No UPDATE before it, and no SELECT after it.
    assert [query["sql"].split()[0] for query in queries] == ["INSERT"]
    assert shop().Customer.objects.get(pk=str(ada.id)).name == "Ada"
    ada.name = "Ada Lovelace"
    ada.save()
    assert shop().Customer.objects.get(id=ada.id).name == "Ada Lovelace"


def test_many_rows_are_stored_by_one_statement() -> None:
    customers = [shop().Customer(name=str(number)) for number in range(300)]
    with CaptureQueriesContext(connection) as queries:
        shop().Customer.objects.bulk_create(customers)
    assert len([query for query in queries if query["sql"].startswith("INSERT")]) == 1
    ids = [customer.id for customer in customers]
    assert ids == sorted(set(ids))
    assert list(shop().Customer.objects.order_by("id").values_list("id", flat=True)) == ids
    # With what leads to them.
    orders = [shop().Order(customer=customer) for customer in customers]
    shop().Order.objects.bulk_create(orders)
    assert shop().Order.objects.get(id=orders[7].id).customer == customers[7]


def test_a_column_that_is_added_to_rows_gets_no_id_twice(tmp_path: Path) -> None:
    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "other.db")}
    other = ConnectionHandler({"default": database})["default"]
    field: Any = UidField()
    customer = shop().Customer
    field.set_attributes_from_name("extra")
    field.model = customer
    with other.schema_editor() as editor:
        editor.create_model(customer)
    with other.cursor() as cursor:
        cursor.execute("INSERT INTO shop_customer (id, name) VALUES (1, 'Ada'), (2, 'Grace')")
    with pytest.raises(IntegrityError, match="UNIQUE"):
        with other.schema_editor() as editor:
            editor.add_field(customer, field)
    other.close()


@pytest.mark.parametrize("value", [0, -1, 2**63, 1.5, 1e18, True, "1.5", "abc", ""])
def test_what_is_no_id_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError):
        UidField().clean(value, None)


@pytest.mark.parametrize("value", [1, BIG, str(BIG), 2**63 - 1])
def test_an_id_is_read_from_a_text_or_a_number(value: Any) -> None:
    assert UidField().clean(value, None) == int(value)


def test_a_form_has_a_text_for_an_id() -> None:
    form_class = modelform_factory(shop().Customer, fields=["name", "foreign_id"])
    html = str(form_class(instance=shop().Customer(foreign_id=BIG))["foreign_id"])
    assert 'type="text"' in html and f'value="{BIG}"' in html
    stored = form_class({"name": "Ada", "foreign_id": str(BIG)}).save()
    assert shop().Customer.objects.get(id=stored.id).foreign_id == BIG
    assert form_class({"name": "Ada", "foreign_id": ""}).is_valid()
    for wrong in ["0", "-1", "1.5", str(2**63), "abc"]:
        assert list(form_class({"name": "Ada", "foreign_id": wrong}).errors) == ["foreign_id"]


def admin_client() -> Client:
    from django.contrib.auth.models import User

    client = Client()
    client.force_login(User.objects.create_superuser("root", password="of tests"))
    return client


def lines(*rows: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """What the form of the admin sends for an order's lines."""
    sent: dict[str, Any] = {"lines-TOTAL_FORMS": len(rows), "lines-INITIAL_FORMS": initial}
    for at, row in enumerate(rows):
        sent.update({f"lines-{at}-{name}": value for name, value in row.items()})
    return sent


def test_the_admin_adds_changes_and_deletes() -> None:
    client = admin_client()
    answer = client.post("/admin/shop/customer/add/", {"name": "Ada", "foreign_id": str(BIG)})
    assert answer.status_code == 302
    ada = shop().Customer.objects.get()
    assert ada.foreign_id == BIG
    # An order with two lines, and then with one that is changed, one that goes, one that is new.
    sent = {"customer": ada.id, "number": "1", **lines({"text": "tea"}, {"text": "milk"})}
    assert client.post("/admin/shop/order/add/", sent).status_code == 302
    order = shop().Order.objects.get()
    tea, milk = order.lines.order_by("id")
    assert (order.customer, tea.text, milk.text) == (ada, "tea", "milk")
    page = f"/admin/shop/order/{order.id}/change/"
    html = client.get(page).content.decode()
    assert f'value="{tea.id}"' in html and f'value="{milk.id}"' in html
    assert f'<option value="{ada.id}" selected>Ada</option>' in html
    known = [{"id": each.id, "order": order.id} for each in (tea, milk)]
    rows = [{**known[0], "text": "green tea"}, {**known[1], "text": "milk", "DELETE": "on"}]
    sent = {"customer": ada.id, "number": "1", **lines(*rows, {"text": "salt"}, initial=2)}
    assert client.post(page, sent).status_code == 302
    assert [each.text for each in order.lines.order_by("id")] == ["green tea", "salt"]
    assert order.lines.order_by("id")[0].id == tea.id
    listed = client.get("/admin/shop/order/").content.decode()
    assert page in listed and f">{order.id}<" in listed
    popup = client.post("/admin/shop/customer/add/?_popup=1", {"name": "Grace", "_popup": "1"})
    grace = shop().Customer.objects.get(name="Grace")
    assert f"&quot;value&quot;: &quot;{grace.id}&quot;" in popup.content.decode()
    deleted = client.post(f"/admin/shop/customer/{ada.id}/delete/", {"post": "yes"})
    assert deleted.status_code == 302 and not shop().Order.objects.exists()


def number(name: str = "invoices") -> int:
    return next_number(name).value


def test_a_number_is_counted_with_its_document_or_not_at_all() -> None:
    customer = shop().Customer.objects.create()
    first = number()
    shop().Order.objects.create(customer=customer, number=f"R{first:04}")
    with pytest.raises(ZeroDivisionError):
        with transaction.atomic():
            assert number() == first + 1
            1 / 0
    with transaction.atomic():
        following = next_number("invoices", using="default")
    assert (following.value, str(following)) == (first + 1, f"R{first + 1:04}")


def test_a_number_is_refused_outside_of_a_transaction() -> None:
    # Of another thread, which is in no transaction.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(uidring.RefusedError, match="begin a transaction"):
            pool.submit(number).result(60)
        pool.submit(lambda: connection.close()).result(60)


@pytest.fixture
def used_up(put_back: None) -> None:
    """A generator of 2 ids in a second, or 3, which then fails rather than wait."""
    uidring.configure(worker_id=1, layout="30,32,1", max_lead="1s", on_lead_limit="fail")


def test_no_id_for_now_is_503(used_up: None) -> None:
    answer = Client().get("/many/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert answer.content == b"there is no id for now; try again\n"


def test_an_answer_of_a_task_is_503_as_well(used_up: None) -> None:
    from asgiref.sync import async_to_sync

    async def get() -> Any:
        return await AsyncClient().get("/many-async/")

    answer = async_to_sync(get)()
    assert (answer.status_code, answer["Retry-After"]) == (503, "1")


def test_a_view_of_rest_framework_is_503_as_well(used_up: None) -> None:
    with pytest.raises(uidring.UnavailableError):
        while True:
            uidring.take()
    statuses = set()
    # A new second may give an id in between.
    for _ in range(100):
        statuses.add(Client().post("/api/customers/", {"name": "Ada"}).status_code)
    assert statuses <= {201, 503} and 503 in statuses


def test_other_errors_stay_what_they_are(put_back: None) -> None:
    # Nothing is configured.
    with pytest.raises(uidring.InvalidArgumentError, match='"uidring.django" in INSTALLED_APPS'):
        Client().get("/many/")


def told(**options: Any) -> dict[str, str]:
    """What Django's checks say of the settings, by the numbers of the errors."""
    with override_settings(**options):
        return {str(each.id): f"{each.msg} {each.hint}" for each in checks.run_checks()}


def test_a_setting_that_is_missing_is_told() -> None:
    assert told() == {}
    # The ids cannot be in the file of Django's.
    for missing in (None, {}, {"LEASE": "10m"}):
        (text,) = told(UIDRING=missing).values()
        assert "is of django.db.backends.sqlite3; name the store" in text and "UIDRING = {" in text
        assert list(told(UIDRING=missing)) == ["uidring.E001"]


def test_a_wrong_name_in_the_setting_is_told_at_the_start() -> None:
    text = told(UIDRING={"WORKER_ID": 7, "LAESE": "10m"})["uidring.E002"]
    assert "'laese', which means nothing" in text and " lease, " in text
    assert told(UIDRING={"ADDRESS": "/srv/uidring.db", "max-lead": "1h", "exactTime": True}) == {}
    with pytest.raises(ImproperlyConfigured, match="UIDRING is a dict, and not str"):
        told(UIDRING="/srv/uidring.db")


@pytest.mark.parametrize(
    ("database", "expected"),
    [
        ({"NAME": "shop", "HOST": "db"}, "postgres://db/shop"),
        (
            {"NAME": "a/b", "HOST": "db", "PORT": 5433, "USER": "me", "PASSWORD": "p@:/?#%"},
            "postgres://me:p%40%3A%2F%3F%23%25@db:5433/a%2Fb",
        ),
        (
            {"NAME": "shop", "HOST": "::1", "OPTIONS": {"sslmode": "require", "pool": True}},
            "postgres://[::1]/shop?sslmode=require",
        ),
        (
            {"ENGINE": "django.contrib.gis.db.backends.postgis", "NAME": "shop", "HOST": "db"},
            "postgres://db/shop",
        ),
        (
            {
                "ENGINE": "django.db.backends.mysql",
                "NAME": "shop",
                "HOST": "db",
                "PORT": "",
                "USER": "me",
                "OPTIONS": {"charset": "utf8mb4", "ssl": {"ca": "/a b.pem"}},
            },
            "mysql://me@db/shop?require_ssl=true&ssl-ca=%2Fa%20b.pem",
        ),
    ],
)
def test_a_database_of_django_has_an_address(database: dict[str, Any], expected: str) -> None:
    assert address_of({"ENGINE": "django.db.backends.postgresql", **database}) == expected


@pytest.mark.parametrize(
    "database",
    [
        {},
        {"ENGINE": "django.db.backends.oracle", "HOST": "db"},
        {"HOST": ""},
        {"HOST": "/run/postgresql"},
        {"HOST": "db", "OPTIONS": {"service": "ids"}},
        {"HOST": "db", "PASSWORD": "Q7", "NAME": "shop"},
        {"ENGINE": "django.db.backends.mysql", "OPTIONS": {"read_default_file": "my.cnf"}},
    ],
)
def test_a_database_without_a_known_address_is_refused(database: dict[str, Any]) -> None:
    with pytest.raises(ImproperlyConfigured, match="name the store itself: UIDRING = {"):
        address_of({"ENGINE": "django.db.backends.postgresql", **database} if database else {})


DATABASE = """
import sys, urllib.parse
import django
from django.conf import settings
from django.db import connection

url = urllib.parse.urlsplit(sys.argv[1])
engine = {"postgres": "postgresql", "mysql": "mysql"}[url.scheme]
database = {"ENGINE": f"django.db.backends.{engine}", "HOST": url.hostname, "PORT": url.port}
database.update(USER=url.username, PASSWORD=url.password or "", NAME="not there yet")
settings.configure(INSTALLED_APPS=["uidring.django"], DATABASES={"default": database})
django.setup()
# As Django's tests do.
settings.DATABASES["default"]["NAME"] = url.path[1:]
import uidring

worker = uidring.generator().worker_id
assert uidring.generator().parts(uidring.take()).worker == worker
with connection.cursor() as cursor:
    cursor.execute("SELECT id FROM uidring_worker_node")
    assert worker in [id for id, in cursor.fetchall()]
uidring.close()
"""


@pytest.mark.parametrize("server", ["POSTGRES", "MYSQL"])
def test_the_store_is_the_default_database_if_none_is_named(server: str) -> None:
    address = os.environ.get(f"UIDRING_TEST_{server}")
    if not address:
        pytest.skip("no server is named")
    if server == "MYSQL" and find_spec("MySQLdb") is None:
        pytest.skip("there is no mysqlclient")
    subprocess.run([sys.executable, "-c", DATABASE, address], check=True)


def test_fixtures_are_read_as_they_were_written(tmp_path: Path) -> None:
    ada = shop().Customer.objects.create(name="Ada", foreign_id=BIG)
    order = shop().Order.objects.create(customer=ada)
    expected = (order.id, ada.id, BIG)
    file = tmp_path / "shop.json"
    call_command("dumpdata", "shop", output=str(file))
    ada.delete()
    call_command("loaddata", str(file), verbosity=0)
    again = shop().Order.objects.get()
    assert (again.id, again.customer.id, again.customer.foreign_id) == expected


def test_the_column_is_of_eight_bytes(project: Path) -> None:
    with sqlite3.connect(project / "shop.db") as file:
        (sql,) = file.execute("SELECT sql FROM sqlite_master WHERE name = 'shop_order'").fetchone()
    file.close()
    assert '"id" bigint NOT NULL PRIMARY KEY' in sql
    assert '"customer_id" bigint NOT NULL' in sql
