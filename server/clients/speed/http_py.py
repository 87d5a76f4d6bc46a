"""The same over HTTP: prints the microseconds of an id, one by one and a thousand at once."""

import http.client
import json
import sys
import time

service = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))


def ask(count):
    service.request("GET", f"/v1/uids?n={count}")
    return [int(uid) for uid in json.load(service.getresponse())["uids"]]


ask(1)
begin = time.perf_counter()
for _ in range(5000):
    ask(1)
one = (time.perf_counter() - begin) / 5000
begin = time.perf_counter()
for _ in range(100):
    ask(1000)
many = (time.perf_counter() - begin) / 100_000
print(f"{one * 1e6:.1f} {many * 1e6:.2f}")
