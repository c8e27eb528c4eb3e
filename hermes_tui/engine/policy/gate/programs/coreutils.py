"""Core utilities: list, read, count, compare, copy, move, delete."""

from __future__ import annotations

from ..facts import Call, Issue, Level, Outcome, Word
from .rows import danger, safe, unknown, writes

DELETES = "deletes recursively"
FORCED = "deletes without asking"
_WIDE_MODE = frozenset(
    {
        "777",
        "0777",
        "a+rwx",
        "ugo+rwx",
        "+rwx",
        "a=rwx",
        "ugo=rwx",
        "666",
        "0666",
        "a+w",
        "o+w",
        "ugo+w",
        "a=rw",
        "o=rwx",
        "o+rwx",
        "a+rw",
        "1777",
        "2777",
        "4777",
        "6777",
    }
)


def check_remove(call: Call) -> Outcome:
    """``rm``: recursive or forced deletion; roots and homes are blocked."""
    args = call.args
    if args.has("-r") and any(call.guard.is_root(word, call.command.cwds) for word in args.operands):
        return Outcome([Issue(Level.NEVER, "deletes a root, a home or a system folder", "path")])
    return Outcome()


def check_copy(call: Call) -> Outcome:
    """``cp /dev/null FILE`` empties the file."""
    *sources, target = call.args.operands or [Word("")]
    if any(word.text == "/dev/null" for word in sources):
        return Outcome(call.guard.judge(target, "truncate", call.command.cwds))
    return Outcome()


def check_link(call: Call) -> Outcome:
    """``ln``, ``cp -l``: a link to a file outside makes a name inside through which it can be changed."""
    names = call.args.operands
    links = call.args.row.name in ("ln", "link") or call.args.has("-l", "-s")
    sources = (names if call.args.has("-t") or len(names) == 1 else names[:-1]) if links else ()
    found = [issue for word in sources for issue in call.guard.judge(word, "write", call.command.cwds)]
    issues = [
        Issue(issue.level, f"links to what is elsewhere: {issue.reason}", "path", deny=issue.deny)
        for issue in found
        if issue.level >= Level.DANGER
    ]
    return Outcome([*issues, *check_copy(call).issues])


def check_mode(call: Call) -> Outcome:
    """``chmod``: wide open permissions, set-id bits."""
    args = call.args
    mode = args.operands[0].text if args.operands else ""
    if call.args.unknown and mode and not any(w.text == mode for w in args.operands):
        mode = ""
    wide = mode in _WIDE_MODE
    issues = []
    targets = args.operands[1:]
    if args.has("-R") and any(call.guard.is_root(word, call.command.cwds) for word in targets):
        level = Level.NEVER if wide else Level.DANGER
        issues.append(Issue(level, "changes permissions of a whole root, home or system folder", "path"))
    if wide:
        issues.append(Issue(Level.DANGER, f"opens permissions to everybody ({mode})", "program"))
    elif "s" in mode.replace("ugo", "") or (len(mode) == 4 and mode[0] in "246"):
        issues.append(Issue(Level.DANGER, f"sets a set-id bit ({mode})", "program"))
    return Outcome(issues)


def check_owner(call: Call) -> Outcome:
    """``chown``, ``chgrp``."""
    args = call.args
    root = any(call.guard.is_root(word, call.command.cwds) for word in args.operands[1:])
    if args.has("-R") and root:
        return Outcome([Issue(Level.NEVER, "changes the owner of a whole root, home or system folder", "path")])
    return Outcome()


def check_date(call: Call) -> Outcome:
    """``date``: an operand that is no format sets the clock."""
    if any(not word.text.startswith("+") for word in call.args.operands):
        return Outcome([Issue(Level.DANGER, "sets the clock", "program")])
    return Outcome()


def check_dd(call: Call) -> Outcome:
    """``dd``: reads ``if=``, wipes ``of=``."""
    issues: list[Issue] = []
    for word in call.args.operands:
        name, _, _ = word.text.partition("=")
        if name == "if":
            issues += call.guard.judge(word.tail(3), "read", call.command.cwds)
        elif name == "of" and word.text not in ("of=/dev/null", "of=/dev/stdout"):
            issues.append(Issue(Level.DANGER, f"overwrites {word.text[3:]} block by block"))
            issues += call.guard.judge(word.tail(3), "truncate", call.command.cwds)
    writes = any(word.text.startswith("of=") or word.dynamic for word in call.args.operands)
    return Outcome(issues, base=None if writes else Level.SAFE)


def check_dc(call: Call) -> Outcome:
    """``dc``: ``!`` runs the rest of the line."""
    texts = [word.text for word in call.command.words[1:]] + [call.command.stdin_text or ""]
    if any("!" in text for text in texts):
        return Outcome([Issue(Level.DANGER, "runs a command", "text")])
    if call.command.stdin and call.command.stdin_text is None:
        return Outcome([Issue(Level.DANGER, "runs text from a pipe or a file as a program", "text")])
    return Outcome(base=Level.UNKNOWN if call.args.operands else None)


def check_hostname(call: Call) -> Outcome:
    """``hostname NAME`` sets it."""
    return Outcome([Issue(Level.DANGER, "changes the name of the machine")] if call.args.operands else ())


ROWS = [
    *safe(
        "ls dir vdir",
        "l*",
        "-a|--all -A|--almost-all -b -B -c -C -d|--directory -f -F|--classify? -g -G|--no-group -h|--human-readable "
        "-H -i|--inode -k -l -L -m -n -N -o -p -q -Q -r|--reverse -R|--recursive -s|--size -S -t -u -U -v -x -X -Z "
        "-1 -D -I|--ignore= -T= -w|--width= --color? --group-directories-first --sort= --time= --time-style= "
        "--hide= --full-time --si --author --zero --hyperlink? --indicator-style= --format= --block-size= "
        "--file-type --quoting-style= --dereference --show-control-chars -@ -O -e",
    ),
    *safe(
        "cat tac nl rev",
        "r*",
        "-A|--show-all -b|--number-nonblank -e -E|--show-ends -n|--number -s|--squeeze-blank -t -T|--show-tabs -u "
        "-v|--show-nonprinting -r -w= -i= --before -S= -a",
    ),
    *safe(
        "head tail",
        "r*",
        "-n|--lines= -c|--bytes= -q|--quiet|--silent -v|--verbose -z|--zero-terminated -f|--follow? -F "
        "-s|--sleep-interval= --pid= --retry -r -#",
    ),
    *safe("wc", "r*", "-c|--bytes -m|--chars -l|--lines -w|--words -L|--max-line-length --total= --files0-from=:r"),
    *safe(
        "sort",
        "r*",
        "-b|--ignore-leading-blanks -d|--dictionary-order -f|--ignore-case -g|--general-numeric-sort "
        "-h|--human-numeric-sort -i|--ignore-nonprinting -M|--month-sort -n|--numeric-sort -R|--random-sort "
        "-r|--reverse -s|--stable -u|--unique -V|--version-sort -c|--check? -C -m|--merge -z|--zero-terminated "
        "--debug -k|--key= -t|--field-separator= -S|--buffer-size= --parallel= --batch-size= --sort= "
        "-T|--temporary-directory=:w -o|--output=:w --compress-program=:x --files0-from=:r --random-source=:r",
    ),
    *safe(
        "uniq",
        "rt",
        "-c|--count -d|--repeated -D|--all-repeated? -f|--skip-fields= -i|--ignore-case -s|--skip-chars= "
        "-u|--unique -w|--check-chars= -z|--zero-terminated --group?",
    ),
    *safe(
        "cut",
        "r*",
        "-b|--bytes= -c|--characters= -d|--delimiter= -f|--fields= -n -s|--only-delimited "
        "-z|--zero-terminated --complement --output-delimiter=",
    ),
    *safe(
        "paste join comm fold fmt expand unexpand pr",
        "r*",
        "-d|--delimiters= -s|--serial -1 -2 -3 -a= -e= -i -j= -o= -t= -v= --header --check-order --nocheck-order "
        "--output-delimiter= --total -b -w|--width= -c -l= -u -#",
    ),
    *safe("tr", "-*", "-c|--complement -C -d|--delete -s|--squeeze-repeats -t|--truncate-set1"),
    *safe(
        "column",
        "r*",
        "-t|--table -s|--separator= -o|--output-separator= -c|--output-width= -x -n= -N= -R= -J -H= -W= -L",
    ),
    *safe(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 xxhsum",
        "r*",
        "-b|--binary -c|--check -t|--text --tag --quiet --status -w|--warn --strict --ignore-missing "
        "-a|--algorithm= -z|--zero -q -r -l|--length=",
    ),
    *safe(
        "base64 base32 basenc",
        "r",
        "-d|--decode -D -w|--wrap= -i|--ignore-garbage --base64 --base64url --base32 --base16",
    ),
    *safe(
        "od xxd hexdump hd strings", "r*", "-A= -t= -N= -j= -v -c -x -o -b -d -w= -a -n= -f -e= -C -s= -l= -g= -p -u -#"
    ),
    *safe("cmp", "r*", "-b -i= -l -n= -s|--quiet|--silent"),
    *safe(
        "diff",
        "r*",
        "-u -U|--unified= -c -C|--context? -q|--brief -r|--recursive -N|--new-file -a|--text -b -B -w -i -E -Z -y "
        "-W|--width= --color? -x|--exclude= -X|--exclude-from=:r -s -p -d -e -l -t -T -n --side-by-side "
        "--suppress-common-lines --strip-trailing-cr --minimal --ignore-all-space --ignore-space-change "
        "--ignore-blank-lines --label= -L= --unified? --to-file=:r --from-file=:r",
        recurses="-r",
    ),
    *safe("diff3 colordiff", "r*", "-u -m -A -E -e -3"),
    *safe("stat", "l*", "-c|--format= -f|--file-system -L|--dereference -t|--terse --printf= -x -s"),
    *safe(
        "file", "r*", "-b|--brief -i|--mime -L|--dereference -k -z -h -s -r -0 -F= -f=:r --mime-type --mime-encoding -I"
    ),
    *safe(
        "du",
        "l*",
        "-a|--all -b|--bytes -c|--total -d|--max-depth= -h|--human-readable -k -m -s|--summarize -x -L -P -S -0 "
        "-t|--threshold= --apparent-size --exclude= --si --time? --inodes -X=:r -H -D -l",
    ),
    *safe(
        "df", "l*", "-a -h|--human-readable -H -i|--inodes -k -l -P -T|--print-type -t= -x= --total --output? -B= -m"
    ),
    *safe(
        "tree",
        "l*",
        "-a -d -f -i -L= -P= -I= -s -h -D -r -t -F -C -n -p -u -g -Q -N -x -l -J -X -o=:w -v -q -A -S --noreport "
        "--dirsfirst --gitignore --prune --du --sort? --filelimit= --matchdirs --ignore-case --charset= --si "
        "--inodes --device --fromfile",
    ),
    *safe(
        "readlink realpath",
        "l*",
        "-f|--canonicalize -e|--canonicalize-existing -m|--canonicalize-missing -n|--no-newline -q|--quiet "
        "-s|--no-symlinks|--strip -z|--zero -L|--logical -P|--physical -v --relative-to= --relative-base=",
    ),
    *safe("dirname basename", "-*", "-a|--multiple -s|--suffix= -z|--zero"),
    *safe("pwd", "-*", "-L -P"),
    *safe("seq", "-*", "-s|--separator= -f|--format= -w|--equal-width -#"),
    *safe("sleep usleep", "-*"),
    *safe(
        "nproc arch uname whoami id groups logname tty users who w uptime locale getconf lsb_release sw_vers",
        "-*",
        "-a|--all -s -n -r -v -m -p -i -o -u|--user -g|--group -G|--groups -z --ignore= -q -H -b -c -d -h -f",
    ),
    *safe(
        "hostname", "-*", "-f|--fqdn -s|--short -i|--ip-address -I|--all-ip-addresses -d|--domain", check=check_hostname
    ),
    *safe(
        "date",
        "-*",
        "-d|--date= -I|--iso-8601? -R|--rfc-email -u|--utc|--universal --rfc-3339= -r|--reference=:r -s|--set=:d "
        "-f|--file=:r -j --debug --resolution",
        dangers={"-s": "sets the clock"},
        check=check_date,
    ),
    *safe("cal ncal", "-*", "-# -3 -m -y -1 -A= -B= -h -j -w"),
    *safe("printenv", "-*", "-0|--null"),
    *safe(
        "expr factor numfmt yes bc",
        "-*",
        "-l -q -s -e= --to= --from= --suffix= --padding= --field= -d= --format= --header? --invalid= --round= "
        "--grouping",
    ),
    *safe("dc", "r*", "-e= -f=:r -i", check=check_dc),
    *safe("which whereis type apropos whatis", "-*", "-a|--all -s -p -t -P -f -b -m -u"),
    *safe("true false clear reset", "-*", raw=True),
    *safe(
        "ps",
        "-*",
        "-A -a -e -f -F -l -L -j -M -y -w -x -H -d -N -T -c -Z -m -o|--format= -O= -p|--pid= -u|--user= -U= -C= -g= "
        "-G= -s= -t= --sort= --no-headers --headers --forest --ppid= --cols= --width= -q= -r -h -v -E",
    ),
    *safe(
        "pgrep pidof lsof fuser free vmstat iostat lscpu lsblk lsusb lspci lsmod sysctl_read uptime last lastlog "
        "nvidia-smi pstree htop_list numactl_show",
        "-*",
        "-f -a -l -x -u= -n -o -v -c -i? -P -p= -t -h -m -g -b -k -s= -w -d= -q -L -F? -U -A -S -T -e",
    ),
    *writes("mkdir", "w*", "-p|--parents -v|--verbose -m|--mode=:u -Z"),
    *writes("touch", "w*", "-a -c|--no-create -d|--date= -f -h|--no-dereference -m -r|--reference=:r -t= --time="),
    *writes(
        "cp",
        "r*w",
        "-a|--archive -b -f|--force -i|--interactive -H -l|--link -L|--dereference -n|--no-clobber -P -p "
        "-r|-R|--recursive -s|--symbolic-link -S= -t|--target-directory=:w -T -u|--update? -v|--verbose -x -c "
        "--preserve? --no-preserve= --parents --sparse= --reflink? --backup? --strip-trailing-slashes "
        "--attributes-only",
        check=check_link,
        recurses="-r -a",
    ),
    *writes(
        "mv",
        "w*",
        "-b -f|--force -i|--interactive -n|--no-clobber -S= -t|--target-directory=:w -T -u|--update? -v|--verbose "
        "--backup? --strip-trailing-slashes",
    ),
    *writes(
        "ln",
        "r*w",
        "-s|--symbolic -f|--force -n|--no-dereference -r|--relative -v|--verbose -i -b -L -P -T -S= "
        "-t|--target-directory=:w --backup?",
        check=check_link,
    ),
    *writes(
        "install",
        "r*w",
        "-d|--directory -D -m|--mode=:u -o|--owner=:u -g|--group=:u -p -v -t|--target-directory=:w -T -C -c -b -s "
        "--strip-program=:x",
    ),
    *writes("tee", "t*", "-a|--append:W -i|--ignore-interrupts -p --output-error?"),
    *writes("mktemp", "-*", "-d|--directory -u|--dry-run -q|--quiet -t -p|--tmpdir? --suffix="),
    *writes(
        "split csplit",
        "rw",
        "-l= -b= -n= -d -a= -x -e -C= --filter=:x --numeric-suffixes? --additional-suffix= -f=:w -k -s -z -t= "
        "--verbose",
        dangers={"--filter": "runs a program on each part"},
    ),
    *writes("rmdir", "d*", "-p|--parents -v|--verbose --ignore-fail-on-non-empty"),
    *writes(
        "rm",
        "d*",
        "-r|-R|--recursive:d -f|--force:d -i -I --interactive? -d|--dir -v|--verbose --one-file-system "
        "--no-preserve-root:d --preserve-root?",
        check=check_remove,
        dangers={"-r": DELETES, "-f": FORCED, "--no-preserve-root": "may delete the root folder"},
        remember=False,
    ),
    *writes("unlink", "d*", remember=False),
    *writes("trash trash-put gio-trash rmtrash", "d*", "-v -r -f -d -i"),
    *danger("rimraf del-cli del", DELETES, "d*", "-g --glob -f --force"),
    *danger("shred wipe srm", "destroys the content of files", "d*", "-f -n= -s= -u -v -x -z --remove? --iterations="),
    *danger("truncate", "cuts files", "t*", "-s|--size= -c|--no-create -o -r|--reference=:r"),
    *writes(
        "chmod",
        "-w*",
        "-R|--recursive -v|--verbose -c|--changes -f --reference=:r --preserve-root --no-preserve-root -x -w -r -h "
        "-H -L -P",
        check=check_mode,
    ),
    *danger(
        "chown chgrp",
        "changes owners",
        "-w*",
        "-R|--recursive -v -c -f -h -H -L -P --from= --reference=:r --preserve-root --no-preserve-root",
        check=check_owner,
    ),
    *danger("chattr setfacl chcon setfattr setcap", "changes attributes or rights of files", "-*"),
    *danger("dd", "copies block by block", "-*", check=check_dd),
    *danger("mkfifo mknod", "makes special files", "w*", "-m="),
    *unknown("link", "rw", check=check_link),
]
