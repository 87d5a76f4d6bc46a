"""Takes UIDs from the store at its first argument, with the options after it, and writes them to
its output, eight bytes each, until its input ends or it is killed."""

import select
import sys
from array import array

import uidring

options = dict(option.split("=", 1) for option in sys.argv[2:])
with uidring.UidGenerator.open(sys.argv[1], **options) as uids:
    batch = array("Q", bytes(8 * 500))
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        singles = array("Q", [uids.take() for _ in range(500)])
        uids.fill(batch)
        sys.stdout.buffer.write(singles + batch)
        sys.stdout.buffer.flush()
