"""redis-py: takes numbers in each way. `run` tells what is printed and what the arguments are."""

import os
import sys
import time

import redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import BusyLoadingError, ConnectionError, ResponseError, TimeoutError
from redis.retry import Retry

port, flag, token, ca = (sys.argv[1:] + [None, None])[:4]
client = redis.Redis(
    host="localhost",
    port=int(port),
    password=token or None,
    ssl=bool(ca),
    ssl_ca_certs=ca or None,
    decode_responses=True,
    retry=Retry(ExponentialBackoff(cap=0.5, base=0.01), 100),
    retry_on_error=[BusyLoadingError, ConnectionError, TimeoutError],
)


def show(what, number):
    print(what, number, flush=True)


def take():
    for _ in range(100):
        try:
            return show("uid", client.execute_command("UID.NEXT"))
        except ConnectionError:
            # redis-py 4 does not try again where a new connection is lost while it sends AUTH.
            time.sleep(0.05)
    sys.exit("no UID")


for _ in range(100):
    take()
    show("orders", client.execute_command("TAG.NEXT", "orders"))
    show("orders", client.incr("orders"))
    show("invoices", client.execute_command("SERIES.NEXT", "invoices"))
for uid in client.execute_command("UID.NEXT", 1000):
    show("uid", uid)
pipeline = client.pipeline(transaction=False)
for _ in range(1000):
    pipeline.execute_command("UID.NEXT")
for uid in pipeline.execute():
    show("uid", uid)
for wrong in ["TAG.NEXT nobody", "UID.NEXT none", "NO.SUCH"]:
    try:
        client.execute_command(*wrong.split())
        sys.exit(f"{wrong}: no error")
    except ResponseError as error:
        assert wrong.split()[-1] in str(error), error
# What health checks ask.
assert client.info()["redis_version"] and client.info("replication")["role"] == "master"
assert client.exists("orders") == 1 and client.dbsize() > 0 and "orders" in client.scan_iter()
print("waits", flush=True)
while not os.path.exists(flag):
    take()
for _ in range(100):
    take()
