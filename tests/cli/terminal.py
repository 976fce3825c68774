"""Runs a command on a terminal and prints what it writes: terminal.py [^C] COMMAND [ARGUMENT]...
With ^C it gets Ctrl-C once it predicts. The exit code is the command's."""
import os
import pty
import sys

stop = sys.argv[1] == "^C"
command = sys.argv[1 + stop:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
text = b""
try:
    while part := os.read(terminal, 4096):
        text += part
        if stop and b"predicting" in text:
            os.write(terminal, b"\x03")
            stop = False
except OSError:  # the command has ended
    pass
sys.stdout.buffer.write(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
