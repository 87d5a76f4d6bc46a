"""Prints the microseconds of an id: one by one, and a thousand at once."""

import sys
import time

import redis

ids = redis.Redis(port=int(sys.argv[1]))
ids.execute_command("UID.NEXT")
begin = time.perf_counter()
for _ in range(5000):
    int(ids.execute_command("UID.NEXT"))
one = (time.perf_counter() - begin) / 5000
begin = time.perf_counter()
for _ in range(100):
    [int(uid) for uid in ids.execute_command("UID.NEXT", 1000)]
many = (time.perf_counter() - begin) / 100_000
print(f"{one * 1e6:.1f} {many * 1e6:.2f}")
