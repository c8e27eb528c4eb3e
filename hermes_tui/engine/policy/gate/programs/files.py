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
    *writes("7z 7za 7zr unrar rar ar cpio pax shar", remember=False),
    *writes(
        "rsync",
        "-*",
        "-a|--archive -v|--verbose -z|--compress -r|--recursive -n|--dry-run -P --progress -h -u|--update -l -L -p "
        "-t -g -o -D -H -A -X -x -q -i -c -R -W -S -m --exclude= --include= --exclude-from=:r --stats --partial "
        "--inplace --bwlimit= --info= --delete:d --delete-after:d --delete-before:d --delete-during:d "
        "--delete-excluded:d --remove-source-files:d -e|--rsh=:x --rsync-path=:x --files-from=:r --link-dest=:r "
        "--checksum --size-only --chmod= --chown=:u --backup -b --backup-dir=:w --port= --password-file=:r",
        check=check_rsync,
        dangers={
            "--delete": "deletes files on the receiving side",
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
