"""Archives and copies: tar, zip, compressors, rsync."""

from __future__ import annotations

import re

from ..facts import Call, Issue, Level, Outcome, Word
from .rows import danger, safe, unknown, writes

_TAR = (
    "-c|--create -x|--extract|--get -t|--list -r|--append -u|--update -d|--diff -A -f|--file= -C|--directory= "
    "-v|--verbose -z|--gzip|--gunzip -j|--bzip2 -J|--xz --zstd --lzma -a|--auto-compress -p|--preserve-permissions "
    "-k|--keep-old-files -h|--dereference -O|--to-stdout -P|--absolute-names:u -m|--touch -w -W -S -s -U "
    "-X|--exclude-from=:r -T|--files-from=:r --exclude= --exclude-vcs --strip-components= --transform= --wildcards "
    "--no-wildcards --owner= --group= --mode= --mtime= --sort= --numeric-owner --overwrite --one-file-system "
    "--totals --checkpoint? --null --no-recursion --skip-old-files --no-same-owner --no-same-permissions --format= "
    "--one-top-level?:w "
    "--keep-newer-files -b= -l -o -B -i -n -N= -g=:w --checkpoint-action=:x -I|--use-compress-program=:x "
    "--to-command=:x -F|--info-script=:x --new-volume-script=:x --rsh-command=:x --rmt-command=:x --remove-files:d"
)
_RUNS = "runs a program"


def check_tar(call: Call) -> Outcome:
    """``tar``: which files are read, which folder is written; old style letters without a dash count too."""
    args = call.args
    cwds = call.command.cwds
    issues: list[Issue] = []
    letters = ""
    words = call.command.words[1:]
    if words and re.fullmatch(r"[A-Za-z]{1,12}", words[0].text) and any(c in words[0].text for c in "cxtru"):
        letters = words[0].text
        if "I" in letters or "F" in letters:
            issues.append(Issue(Level.DANGER, _RUNS, "option", "-I"))
    creates = args.has("-c", "-r", "-u") or any(letter in letters for letter in "cru")
    extracts = args.has("-x") or "x" in letters
    archives = args.values("-f") or ([words[1]] if "f" in letters and len(words) > 1 else [])
    for archive in archives:
        if ":" in archive.text and "/" not in archive.text.split(":")[0]:
            issues.append(Issue(Level.DANGER, "names an archive on another machine", "path"))
        elif archive.text != "-":
            issues += call.guard.judge(archive, "truncate" if creates else "read", cwds)
    if extracts and not args.has("-O"):
        for folder in args.values("-C") or [Word(".")]:
            issues += call.guard.judge(folder, "write", cwds)
    if extracts and (args.has("-P") or "P" in letters):
        issues.append(Issue(Level.DANGER, "may write anywhere: absolute names are kept", "option", "-P"))
    operands = list(args.operands)[2 if letters else 0 :]
    base = Level.WRITES if creates or extracts else Level.SAFE
    return Outcome(issues, base=base, operands=operands if creates else [])


def check_zip(call: Call) -> Outcome:
    """``zip ARCHIVE FILES``."""
    issues = []
    if call.args.operands:
        issues = call.guard.judge(call.args.operands[0], "write", call.command.cwds)
    return Outcome(issues, operands=call.args.operands[1:])


def check_unzip(call: Call) -> Outcome:
    """``unzip -l`` lists, ``-p`` prints."""
    return Outcome(base=Level.SAFE if call.args.has("-l", "-t", "-p", "-Z") else None)


def check_7z(call: Call) -> Outcome:
    """``7z x ARCHIVE -oFOLDER``: the letter says what it does."""
    args = call.args
    cwds = call.command.cwds
    letter, *names = args.operands or [Word("")]
    issues = [Issue(Level.DANGER, "deletes what it packed", "option", "-sdel")] * args.has("-sdel")
    if letter.text in ("l", "t", "i", "h", "b"):
        return Outcome(issues, base=Level.SAFE, operands=names)
    if letter.text in ("x", "e"):
        for folder in args.values("-o") or [Word(".")]:
            issues += call.guard.judge(folder, "write", cwds)
        return Outcome(issues, operands=names[:1])
    if letter.text == "d":
        issues.append(Issue(Level.DANGER, "deletes entries of the archive"))
    issues += [found for word in names[:1] for found in call.guard.judge(word, "write", cwds)]
    return Outcome(issues, operands=names[1:])


def check_cpio(call: Call) -> Outcome:
    """``cpio -i`` and ``pax -r`` write where they stand, or below ``-D``."""
    if call.args.has("-t"):
        return Outcome(base=Level.SAFE)
    extracts = call.args.has("-i", "-p") or (call.args.row.name == "pax" and call.args.has("-r"))
    folders = (call.args.values("-D") or [Word(".")]) if extracts else []
    return Outcome([issue for folder in folders for issue in call.guard.judge(folder, "write", call.command.cwds)])


def check_rsync(call: Call) -> Outcome:
    """``rsync``: another machine when a path has a colon; ``--delete`` deletes."""
    issues: list[Issue] = []
    local: list[Word] = []
    for word in call.args.operands:
        head = word.text.split("/")[0]
        if ":" in head or word.text.startswith("rsync://"):
            issues.append(Issue(Level.DANGER, "copies to or from another machine"))
        else:
            local.append(word)
    for i, word in enumerate(local):
        kind = "write" if i == len(local) - 1 and not issues else "read"
        issues += call.guard.judge(word, "write" if kind == "write" else "read", call.command.cwds)
    return Outcome(issues, operands=[])


ROWS = [
    *unknown(
        "tar bsdtar",
        "r*",
        _TAR,
        check=check_tar,
        recurses="*",
        dangers={
            "--checkpoint-action": _RUNS,
            "-I": _RUNS,
            "--to-command": _RUNS,
            "-F": _RUNS,
            "--new-volume-script": _RUNS,
            "--rsh-command": _RUNS,
            "--rmt-command": _RUNS,
            "--remove-files": "deletes what it packed",
        },
    ),
    *writes(
        "zip",
        "-r*",
        "-r|--recurse-paths -q -v -j -m|--move:d -x= -i= -u -d:d -e:u -P=:u -# -y -9 -0 -T:u -TT|--unzip-command=:x "
        "-X -D -l -s=",
        check=check_zip,
        recurses="-r",
        dangers={
            "-m": "deletes what it packed",
            "-d": "deletes entries of the archive",
            "-TT": _RUNS,
        },
    ),
    *writes("unzip", "r-*", "-l -v -t -p -q -o:u -n -u -d=:w -j -x= -Z -a -C", check=check_unzip),
    *writes(
        "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress",
        "w*",
        "-d|--decompress -k|--keep -c|--stdout -t|--test -l|--list -v -q -f|--force:u -r|--recursive:u -# -n -N -T= "
        "-z -o=:w --fast --best -S= --rm:d",
        dangers={"--rm": "deletes what it packed"},
    ),
    *safe("zcat bzcat xzcat zstdcat lz4cat zless zdiff", "r*", "-f -q -v"),
    *writes(
        "7z 7za 7zr 7zz",
        "r*",
        "-o?:w -y -r? -t? -m? -p?:u -x? -i? -v? -bd -bb? -bs? -so -si -sdel -aoa -aos -aou -spf:u -w?:w",
        check=check_7z,
        remember=False,
    ),
    *writes("unrar rar ar shar", "-w*", remember=False),
    *writes(
        "cpio pax",
        "r*",
        "-i|--extract -o|--create -p|--pass-through -t|--list -d|--make-directories -m -u -v -0 -H= -D|--directory=:u "
        "-F=:r -I=:r -O=:w -r -w -f= -s= -a --no-absolute-filenames --quiet -E=:r --to-stdout --rsh-command=:x",
        check=check_cpio,
        remember=False,
    ),
    *writes(
        "rsync",
        "-*",
        "-a|--archive -v|--verbose -z|--compress -r|--recursive -n|--dry-run -P --progress -h -u|--update -l -L -p "
        "-t -g -o -D -H -A -X -x -q -i -c -R -W -S -m --exclude= --include= --exclude-from=:r --stats --partial "
        "--inplace --bwlimit= --info= --daemon:d --delete:d --delete-after:d --delete-before:d --delete-during:d "
        "--delete-excluded:d --remove-source-files:d -e|--rsh=:x --rsync-path=:x --files-from=:r --link-dest=:r "
        "--checksum --size-only --chmod= --chown=:u --backup -b --backup-dir=:w --port= --password-file=:r",
        check=check_rsync,
        dangers={
            "--delete": "deletes files on the receiving side",
            "--daemon": "opens a server",
            "--delete-after": "deletes files on the receiving side",
            "--delete-before": "deletes files on the receiving side",
            "--delete-during": "deletes files on the receiving side",
            "--delete-excluded": "deletes files on the receiving side",
            "--remove-source-files": "deletes the source files",
            "-e": _RUNS,
            "--rsync-path": _RUNS,
        },
        remember=False,
    ),
    *danger(
        "mkfs mke2fs mkswap wipefs fdisk sfdisk sgdisk gdisk parted cfdisk blkdiscard hdparm badblocks fsck e2fsck "
        "tune2fs resize2fs cryptsetup losetup diskutil hdiutil zpool zfs lvremove vgremove pvremove mdadm",
        "changes disks or file systems",
        "-w*",
    ),
    *danger("mount umount swapon swapoff chroot pivot_root", "changes mounts or the root folder", "-*"),
]
