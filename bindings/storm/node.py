"""Does what a node of Baidu's UidGenerator does: inserts a row into its table WORKER_NODE for a
worker id, and gives ids as DefaultUidGenerator does, second by second, none ahead of the clock.
Writes them to its output, eight bytes each, until its input ends or it is killed.

Its arguments are the command of a client for the database, the bits of worker and sequence, and
the epoch in seconds since 1970."""

import random
import select
import subprocess
import sys
import time
from array import array

client, (worker_bits, sequence_bits, epoch) = sys.argv[1:-3], map(int, sys.argv[-3:])
port = f"{int(time.time() * 1000)}-{random.randrange(100000)}"
insert = (
    "INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) "
    f"VALUES ('127.0.0.1', '{port}', 2, NOW(), NOW(), NOW()); SELECT LAST_INSERT_ID()"
)
worker = int(subprocess.run([*client, "-e", insert], check=True, stdout=subprocess.PIPE).stdout)
second, sequence = 0, 0
while not select.select([sys.stdin], [], [], 0.005)[0]:
    ids = array("Q")
    now = int(time.time())
    if now > second:
        second, sequence = now, 0
    while sequence < 1 << sequence_bits and len(ids) < 1000:
        tick = (second - epoch) << (worker_bits + sequence_bits)
        ids.append(tick | worker << sequence_bits | sequence)
        sequence += 1
    sys.stdout.buffer.write(ids)
    sys.stdout.buffer.flush()
