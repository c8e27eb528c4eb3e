"""What the driver writes to a terminal that is gone."""

import os
import pty
from contextlib import suppress

from hermes_tui.driver import PatientFile


def test_a_terminal_that_is_gone_takes_everything_without_a_failure():
    master, slave = pty.openpty()
    terminal = os.fdopen(slave, "w")
    file = PatientFile(terminal)
    assert file.isatty() and file.fileno() == slave
    file.write("seen")
    file.flush()
    assert os.read(master, 10) == b"seen"
    os.close(master)
    for _ in range(40):
        file.write("x" * 10_000)
        file.flush()
    with suppress(OSError):
        terminal.close()
