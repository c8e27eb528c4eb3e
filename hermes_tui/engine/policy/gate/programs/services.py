"""Processes, services, schedules, privilege, the machine itself."""

from __future__ import annotations

import re

from ..facts import NUMBER, Call, Issue, Level, Outcome
from .rows import danger, never, parent, safe, unknown

_STOPS = "stops or restarts the machine"


def check_kill(call: Call) -> Outcome:
    """``kill -l`` lists; own jobs (``%1``, ``$!``) are ours to stop; ``kill -9 -1`` and pid 1 hit everything."""
    words = [word.text for word in call.command.words[1:]]
    targets = [word for word in words if not re.match(r"-[A-Z0-9]", word)]
    if targets and all(re.match(rf"%\d*\Z|{NUMBER}\Z", word) for word in targets):
        return Outcome()
    if not words or words[0] in ("-l", "-L", "--list", "-0"):
        return Outcome(base=Level.SAFE)
    if any(word in ("-1", "1", "0") for word in words[1:]):
        return Outcome([Issue(Level.DANGER, "signals every process")])
    return Outcome([Issue(Level.DANGER, "stops processes")])


def check_init(call: Call) -> Outcome:
    """``init 0`` and ``init 6`` stop the machine."""
    if any(word.text in ("0", "6") for word in call.args.operands):
        return Outcome([Issue(Level.NEVER, _STOPS)])
    return Outcome([Issue(Level.DANGER, "changes the run level")])


def check_crontab(call: Call) -> Outcome:
    """``crontab -l`` lists."""
    if call.args.has("-l") and not call.args.operands:
        return Outcome(base=Level.UNKNOWN)
    return Outcome([Issue(Level.DANGER, "changes what runs later on its own")])


ROWS = [
    *never("shutdown reboot poweroff halt telinit", _STOPS),
    *unknown("init", check=check_init, remember=False),
    *unknown("kill", raw=True, check=check_kill, remember=False),
    *danger("killall pkill skill snice xkill taskkill", "stops processes by name"),
    *unknown("renice ionice_set taskset_set chrt_set", remember=False),
    parent(
        "systemctl",
        "--user -q --no-pager -l --full -a|--all -t= --state= -n= -H=:d --root=:d -M=:d --now -f:d",
        safe(
            "status is-active is-enabled is-failed list-units list-unit-files list-timers list-sockets "
            "list-dependencies show cat get-default",
            "-*",
            "--user -p= --no-legend -l --value",
        ),
        never("poweroff reboot halt kexec soft-reboot emergency rescue suspend hibernate", _STOPS),
        danger("*", "changes services"),
        remember=False,
        dangers={"-H": "works on another machine"},
    ),
    parent("service", "", danger("*", "changes services"), remember=False),
    *unknown(
        "journalctl dmesg",
        "-*",
        "-u= -n= -f -e -x -b? --since= --until= --no-pager -p= -k -r -o= --user -T -H -w --vacuum-time=:d "
        "--vacuum-size=:d --rotate:d -c|--read-clear:d -C|--clear:d",
        dangers={
            "--vacuum-time": "deletes logs",
            "--vacuum-size": "deletes logs",
            "--rotate": "rotates logs",
            "-c": "clears the log",
            "-C": "clears the log",
        },
    ),
    *danger(
        "launchctl initctl rc-service rc-update update-rc.d chkconfig supervisorctl pm2 loginctl hostnamectl "
        "timedatectl localectl sv runsvdir",
        "changes services or the machine",
    ),
    *danger("crontab", "changes what runs later on its own", "-*", "-l -e -r -u= -i", check=check_crontab),
    *danger("at batch atrm anacron systemd-run systemd-cat", "runs something later or in the background"),
    *danger(
        "tmux screen byobu zellij dtach abduco daemonize start-stop-daemon disown",
        "keeps programs running in the background",
        raw=True,
    ),
    *danger(
        "useradd adduser usermod userdel deluser groupadd groupdel groupmod passwd chpasswd chsh chfn visudo vipw "
        "newgrp gpasswd dseditgroup dscl",
        "changes users or their rights",
    ),
    *danger(
        "insmod rmmod modprobe kmod sysctl depmod kexec grub-install update-grub bless nvram csrutil spctl tccutil "
        "setenforce aa-disable apparmor_parser auditctl update-alternatives ldconfig swaplabel",
        "changes the system itself",
    ),
    *danger(
        "osascript defaults scutil networksetup pmset reg regedit powershell pwsh cmd wmic schtasks bcdedit",
        "controls the desktop or the system",
    ),
    *danger("gdb lldb strace ltrace dtrace perf bpftrace rr valgrind frida", "attaches to or drives other programs"),
    *danger(
        "xdotool ydotool wmctrl xclip xsel pbcopy pbpaste wl-copy wl-paste", "controls the desktop or the clipboard"
    ),
    parent(
        "hermes-tui",
        "--yolo:d",
        safe("doctor models", "-*", "--json"),
        danger("config", "changes the agent's own configuration"),
        unknown("sessions gate run", remember=False),
        remember=False,
    ),
    *unknown(
        "claude codex gemini aider opencode goose cursor-agent hermes", remember=False, reason="starts another agent"
    ),
]
