"""redis-cli: takes numbers in each way. `run` tells what is printed and what the arguments are."""

import os
import pty
import select
import subprocess
import sys
import termios
import time

port, flag, token, ca = (sys.argv[1:] + ["", ""])[:4]
command = ["redis-cli", "-h", "localhost", "-p", port]
if token:
    command += ["-a", token, "--no-auth-warning"]
if ca:
    command += ["--tls", "--cacert", ca]


def ask(*words, lines=""):
    done = subprocess.run([*command, *words], input=lines, capture_output=True, text=True)
    return done.stdout.split("\n")[:-1]


def show(what, number):
    print(what, number, flush=True)


def take():
    for _ in range(200):
        answer = ask("UID.NEXT")
        if answer and answer[0].isdigit():
            return show("uid", answer[0])
        time.sleep(0.05)
    sys.exit("no UID")


for _ in range(10):
    take()
    for words in [("orders", "TAG.NEXT", "orders"), ("orders", "INCR", "orders")]:
        show(words[0], ask(*words[1:])[0])
    show("invoices", ask("SERIES.NEXT", "invoices")[0])
for uid in ask("UID.NEXT", "1000"):
    show("uid", uid)
for uid in ask(lines="UID.NEXT\n" * 1000):
    show("uid", uid)
for wrong in ["TAG.NEXT nobody", "UID.NEXT none", "NO.SUCH"]:
    answer = " ".join(ask(*wrong.split()))
    assert answer.startswith("ERR ") and wrong.split()[-1] in answer, answer

# On a terminal, the tab key completes a name and the arguments are shown, as COMMAND DOCS has them.
process, terminal = pty.fork()
if process == 0:
    termios.tcsetwinsize(0, (24, 80))
    os.environ["TERM"] = "xterm"
    os.execvp(command[0], command)
shown = b""


def wait_for(text):
    global shown
    end = time.monotonic() + 20
    while text not in shown:
        assert time.monotonic() < end, shown
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 10000)


wait_for(b"localhost:" + port.encode() + b"> ")
os.write(terminal, b"series.n\t")
wait_for(b"SERIES.NEXT")
os.write(terminal, b" ")
wait_for(b"series [")
os.kill(process, 9)
os.waitpid(process, 0)

print("waits", flush=True)
while not os.path.exists(flag):
    take()
for _ in range(10):
    take()
