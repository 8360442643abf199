"""Runs a command on a terminal, and answers its questions: terminal.py '[["question", "answer"], …]' COMMAND …

Prints everything that the command printed, and exits with its code. A question that does not come ends it after 50 s.
"""

import json
import os
import pty
import select
import sys
import time

answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])

shown, searched, deadline = "", 0, time.monotonic() + 50
while time.monotonic() < deadline:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        piece = b""
    if not piece:
        break
    shown += piece.decode(errors="replace")
    while answers and answers[0][0] in shown[searched:]:
        question, answer = answers.pop(0)
        searched = shown.index(question, searched) + len(question)
        os.write(terminal, (answer + "\n").encode())
else:
    os.kill(child, 9)
print(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
