"""Search and transform text: grep, rg, find, fd, sed, awk, jq, pagers, editors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Call, Inner, Issue, Level, Outcome, Word
from .rows import danger, safe, unknown, writes

_GREP = (
    "-a|--text -A|--after-context= -b|--byte-offset -B|--before-context= -c|--count -C|--context= "
    "--color? --colour? -D= -d= -e|--regexp= -E|--extended-regexp -f|--file=:r -F|--fixed-strings -G|--basic-regexp "
    "-h|--no-filename -H|--with-filename -i|--ignore-case -y --no-ignore-case -I --include= --exclude= --exclude-dir= "
    "--exclude-from=:r -l|--files-with-matches -L|--files-without-match --label= --line-buffered -m|--max-count= "
    "-n|--line-number -o|--only-matching -P|--perl-regexp -q|--quiet|--silent -r|--recursive -R|--dereference-recursive "
    "-s|--no-messages -T -U -v|--invert-match -w|--word-regexp -x|--line-regexp -z|--null-data -Z|--null -# "
    "--binary-files="
)
_RG = (
    "-A|--after-context= -B|--before-context= -C|--context= -c|--count --count-matches --color= --colors= --column "
    "-e|--regexp= -E|--encoding= -f|--file=:r --files -F|--fixed-strings -g|--glob= --iglob= -h -H|--with-filename "
    "--heading --no-heading --hidden -. -i|--ignore-case --ignore-file=:r -I|--no-filename -j|--threads= -l|--files-with-matches "
    "--files-without-match -L|--follow -m|--max-count= -d|--max-depth|--maxdepth= --max-filesize= -M|--max-columns= "
    "-n|--line-number -N|--no-line-number --no-config --no-ignore --no-ignore-vcs --no-messages -o|--only-matching "
    "-p|--pretty -P|--pcre2 -q|--quiet -r|--replace= -s|--case-sensitive -S|--smart-case --sort= --sortr= --stats "
    "-t|--type= -T|--type-not= --type-list --trim -u|--unrestricted -U|--multiline --multiline-dotall -v|--invert-match "
    "-V --vimgrep -w|--word-regexp -x|--line-regexp -0|--null --json --passthru --crlf --debug -a|--text --engine= "
    "--line-buffered --block-buffered --one-file-system --binary --context-separator= --field-match-separator= "
    "--max-columns-preview --byte-offset -b --include-zero --no-unicode --auto-hybrid-regex --glob-case-insensitive "
    "--type-add= --pre=:x --pre-glob= --hostname-bin=:x -z|--search-zip:u --hyperlink-format="
)
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")


def check_grep(call: Call) -> Outcome:
    """The first operand is the pattern, unless one was given as an option."""
    operands = call.args.operands
    if not call.args.has("-e", "-f", "--files", "--type-list"):
        operands = operands[1:]
    return Outcome(operands=[Word("")] + list(operands))


def check_find(call: Call) -> Outcome:
    """``find``: read the expression word by word; what it runs is judged, what it deletes or writes asks."""
    words = list(call.command.words[1:])
    cwds = call.command.cwds
    starts, at = _find_starts(words)
    issues: list[Issue] = []
    inner: list[Inner] = []
    filters = 0
    deletes = False
    while at < len(words):
        text = words[at].text
        at += 1
        if text in _FIND_RUNS:
            command, at = _find_command(words, at)
            inner.append(Inner(words=tuple(command)))
            issues.append(Issue(Level.UNKNOWN, f"find {text} runs a command", "option", text))
        elif text == "-delete":
            deletes = True
        elif text in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            issues += call.guard.judge(words[at], "truncate", cwds) if at < len(words) else []
            issues.append(Issue(Level.DANGER, f"find {text} writes a file", "option", text))
            at += 2 if text == "-fprintf" else 1
        elif text in _FIND_VALUES:
            filters += text not in ("-maxdepth", "-mindepth", "-printf", "-D")
            if text in ("-newer", "-samefile", "-files0-from") and at < len(words):
                issues += call.guard.judge(words[at], "list", cwds)
            at += 1
        elif text in _FIND_PLAIN or text in ("(", ")", "!", ","):
            filters += text in ("-empty",)
        else:
            issues.append(Issue(Level.UNKNOWN, f"find {text!r} is not known to be harmless", "option", text))
    if deletes:
        issues += _judge_find_delete(call, starts, filters)
    return Outcome(issues, inner, operands=starts)


def _find_starts(words: list[Word]) -> tuple[list[Word], int]:
    at = 0
    while at < len(words) and words[at].text in ("-H", "-L", "-P"):
        at += 1
    starts = []
    while at < len(words) and not words[at].text.startswith("-") and words[at].text not in ("(", "!", ","):
        starts.append(words[at])
        at += 1
    return starts, at


def _find_command(words: list[Word], at: int) -> tuple[list[Word], int]:
    command = []
    while (
        at < len(words)
        and words[at].text not in (";",)
        and not (words[at].text == "+" and command and command[-1].text == "{}")
    ):
        command.append(words[at])
        at += 1
    return [Word("\x01", w.start, w.end) if w.text == "{}" else w for w in command], at + 1


def _judge_find_delete(call: Call, starts: list[Word], filters: int) -> list[Issue]:
    cwds = call.command.cwds
    issues = [Issue(Level.DANGER, "find -delete deletes what it finds", "option", "-delete")]
    for start in starts:
        issues += call.guard.judge(start, "delete", cwds)
        if not filters and call.guard.is_root(start, cwds):
            issues.append(Issue(Level.NEVER, "deletes a root, a home or a system folder", "path"))
    return issues


_FIND_VALUES = frozenset(
    ["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-newermt", "-newerat", "-newerct", "-maxdepth", "-mindepth", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-samefile", "-lname", "-ilname", "-fstype", "-printf", "-regextype", "-D", "-files0-from", "-used", "-context"]
)
_FIND_PLAIN = frozenset(
    ["-print", "-print0", "-ls", "-prune", "-quit", "-depth", "-d", "-mount", "-xdev", "-follow", "-noleaf", "-empty", "-readable", "-writable", "-executable", "-true", "-false", "-not", "-a", "-and", "-o", "-or", "-nouser", "-nogroup", "-warn", "-nowarn", "-daystart", "-ignore_readdir_race", "-noignore_readdir_race", "-O1", "-O2", "-O3", "-E", "-X", "-s", "-x"]
)


def check_fd(call: Call) -> Outcome:
    """``fd -x command``: everything behind it is the command."""
    words = call.command.words
    for i, word in enumerate(words):
        if word.text in ("-x", "--exec", "-X", "--exec-batch"):
            return Outcome([Issue(Level.UNKNOWN, "fd runs a command", "option", "-x")], [Inner(words=words[i + 1 :])])
    return Outcome(operands=[Word("")] + list(call.args.operands[1:]))


def sed_commands(script: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a sed script with their argument: ``("w", "out")``, ``("s", flags)``.

    A letter that is not understood ends the list with ``("?", rest)``.
    """
    at = 0
    while at < len(script):
        at = _sed_skip_address(script, at)
        if at < 0:
            yield "?", script
            return
        if at >= len(script):
            return
        letter = script[at]
        at += 1
        if letter in "};":
            continue
        if letter == "{":
            continue
        if letter in "sy":
            end, flags = _sed_substitute(script, at)
            if end < 0:
                yield "?", script
                return
            yield letter, flags
            at = end
        elif letter in "aicrRwWe#:btT":
            stop = script.find("\n", at)
            stop = len(script) if stop < 0 else stop
            if letter in ":btT":
                semicolon = script.find(";", at)
                stop = min(stop, semicolon) if semicolon >= 0 else stop
            yield letter, script[at:stop].strip()
            at = stop
        elif letter in "dDgGhHlnNpPqQx=zF":
            match = re.compile(r"\s*\d*").match(script, at)
            at = match.end() if match else at
            yield letter, ""
        else:
            yield "?", script[at - 1 :]
            return


def _sed_skip_address(script: str, at: int) -> int:
    while at < len(script):
        char = script[at]
        if char in " \t\n;,!~+$0123456789":
            at += 1
        elif char in "/\\":
            delimiter = char
            if char == "\\":
                at += 1
                if at >= len(script):
                    return -1
                delimiter = script[at]
            at = _sed_delimited(script, at + 1, delimiter)
            if at < 0:
                return -1
            while at < len(script) and script[at] in "IM":
                at += 1
        else:
            return at
    return at


def _sed_delimited(script: str, at: int, delimiter: str) -> int:
    bracket = False
    while at < len(script):
        char = script[at]
        if char == "\\":
            at += 2
            continue
        if bracket:
            bracket = char != "]"
        elif char == "[" and delimiter != "[":
            bracket = True
            if script[at + 1 : at + 2] == "^":
                at += 1
            if script[at + 1 : at + 2] == "]":
                at += 1
        elif char == delimiter:
            return at + 1
        at += 1
    return -1


def _sed_substitute(script: str, at: int) -> tuple[int, str]:
    if at >= len(script):
        return -1, ""
    delimiter = script[at]
    middle = _sed_delimited(script, at + 1, delimiter)
    if middle < 0:
        return -1, ""
    end = middle
    while end < len(script) and script[end] != delimiter:
        end += 2 if script[end] == "\\" else 1
    if end >= len(script):
        return -1, ""
    stop = end + 1
    while stop < len(script) and (script[stop].isalnum()):
        stop += 1
        if script[stop - 1] == "w":
            stop = script.find("\n", stop) if "\n" in script[stop:] else len(script)
    return stop, script[end + 1 : stop]


def check_sed(call: Call) -> Outcome:
    """``sed``: read the script; ``e`` runs, ``w`` writes, ``r`` reads, ``-i`` edits in place."""
    args = call.args
    scripts = args.values("-e")
    operands = list(args.operands)
    if not scripts and not args.has("-f") and operands:
        scripts, operands = [operands[0]], operands[1:]
    issues: list[Issue] = []
    for script in scripts:
        issues += _judge_sed(call, script)
    if args.has("-i"):
        kinds = [issue for word in operands for issue in call.guard.judge(word, "write", call.command.cwds)]
        issues += kinds
    return Outcome(issues, operands=operands)


def _judge_sed(call: Call, script: Word) -> list[Issue]:
    if script.dynamic:
        return [Issue(Level.UNKNOWN, "the sed script is known only at run time", "text")]
    issues: list[Issue] = []
    cwds = call.command.cwds
    for letter, argument in sed_commands(script.text):
        if letter == "e" or (letter == "s" and "e" in argument.split("w")[0]):
            issues.append(Issue(Level.DANGER, "the sed script runs a command", "text"))
        if letter in "wW" or (letter == "s" and "w" in argument):
            target = argument.split("w", 1)[1].strip() if letter == "s" else argument
            issues += call.guard.judge(Word(target), "truncate", cwds)
            issues.append(Issue(Level.WRITES, "the sed script writes a file", "text"))
        elif letter in "rR":
            issues += call.guard.judge(Word(argument), "read", cwds)
        elif letter == "?":
            issues.append(Issue(Level.UNKNOWN, "the sed script is not understood", "text"))
    return issues


_AWK_RUNS = re.compile(
    r"\bsystem\s*\(|\|\s*&?\s*getline|\|\s*&?\s*[\"A-Za-z(]|\bclose\s*\(|@(?:load|include)|\bextension\s*\("
)
_AWK_WRITES = re.compile(r"\bprintf?\b[^;}\n]*>")
_AWK_LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|(?<=[~(,!])\s*/(?:\\.|[^/\\\n])*/|^\s*/(?:\\.|[^/\\\n])*/")


def check_awk(call: Call) -> Outcome:
    """``awk``: the program may run, write and read files."""
    args = call.args
    operands = list(args.operands)
    if args.has("-f"):
        return Outcome([Issue(Level.UNKNOWN, "awk runs a script from a file", "option", "-f")], operands=operands)
    if not operands:
        return Outcome()
    program, operands = operands[0], operands[1:]
    if program.dynamic:
        return Outcome([Issue(Level.UNKNOWN, "the awk program is known only at run time", "text")], operands=operands)
    bare = _AWK_LITERAL.sub('""', program.text)
    issues: list[Issue] = []
    if _AWK_RUNS.search(bare.replace("||", "  ")):
        issues.append(Issue(Level.DANGER, "the awk program runs a command", "text"))
    if _AWK_WRITES.search(bare):
        issues.append(Issue(Level.WRITES, "the awk program may write a file", "text"))
    if "getline" in bare or "ARGV" in bare or "ENVIRON" in bare:
        issues.append(Issue(Level.UNKNOWN, "the awk program reads other files or the environment", "text"))
    files = [word for word in operands if not re.match(r"[A-Za-z_]\w*=", word.text)]
    return Outcome(issues, operands=files)


def check_pager(call: Call) -> Outcome:
    """``less +COMMAND`` runs commands of the pager."""
    if any(word.text.startswith("+") for word in call.args.operands):
        return Outcome([Issue(Level.DANGER, "starts with a command of the pager", "program")])
    return Outcome()


def check_jq(call: Call) -> Outcome:
    """``jq``: the filter first, then files; ``--rawfile name file`` takes two words."""
    words = call.command.words[1:]
    issues: list[Issue] = []
    files: list[Word] = []
    at, seen_filter, operands_are_text = 0, False, False
    while at < len(words):
        text = words[at].text
        at += 1
        if text in ("--rawfile", "--slurpfile"):
            files += words[at + 1 : at + 2]
            at += 2
        elif text in ("--arg", "--argjson"):
            at += 2
        elif text in ("-f", "--from-file", "-L"):
            files += words[at : at + 1]
            at += 1
            seen_filter = True
        elif text in ("--args", "--jsonargs"):
            operands_are_text = True
        elif text in ("--indent",):
            at += 1
        elif text.startswith("-") and len(text) > 1:
            if not re.fullmatch(r"-[rRnscCSMajeh0]+|--(?:raw-output0?|raw-input|null-input|slurp|compact-output|"
                                r"color-output|monochrome-output|sort-keys|tab|join-output|ascii-output|exit-status|"
                                r"stream|seq|help|version)", text):  # fmt: skip
                issues.append(Issue(Level.UNKNOWN, f"option {text} is not known to be harmless", "option", text))
        elif not seen_filter:
            seen_filter = True
            if re.search(r"\b(?:input_filename|env|\$ENV|import|include)\b", text):
                issues.append(Issue(Level.UNKNOWN, "the filter reads the environment or other files", "text"))
        elif not operands_are_text:
            files.append(words[at - 1])
    return Outcome(issues, operands=files)


ROWS = [
    *safe("grep zgrep", "-r*", _GREP, check=check_grep),
    *safe("rg", "-r*", _RG, check=check_grep,
          dangers={"--pre": "runs a program on every file", "--hostname-bin": "runs a program"}),
    *safe("ag ack", "-r*", "-i -l -n -c -w -v -Q -A= -B= -C= -g= -G= --py --js --hidden -s -o --nocolor --color "
          "--nogroup --group --ignore= --ignore-dir=", check=check_grep),
    *safe("find", "l*", "", raw=True, check=check_find),
    *safe("fd", "-l*", "-H|--hidden -I|--no-ignore -u -s -i -g|--glob -F -a|--absolute-path -l|--list-details -L -p "
          "-0 -d|--max-depth= --min-depth= -t|--type= -e|--extension= -E|--exclude= -S|--size= --changed-within= "
          "--changed-before= -o= --color= -j= -1 -q -c= --strip-cwd-prefix --base-directory=:r --format= "
          "-x|--exec:x -X|--exec-batch:x", check=check_fd,
          dangers={"-x": "runs a command for every file", "-X": "runs a command on the files"}),
    *safe("sed", "r*", "-n|--quiet|--silent -e|--expression= -E|-r|--regexp-extended -s|--separate -u|--unbuffered "
          "-z|--null-data -l= --posix --debug --sandbox -i|--in-place?:W -f|--file=:u --follow-symlinks", check=check_sed),
    *safe("awk", "r*", "-F|--field-separator= -v|--assign= -f|--file=:r -P -S --posix --csv -n -N -b -c -t "
          "-i|--include=:u -l|--load=:u -e|--source=:u -E|--exec=:u -o?:u -p?:u -d?:u", check=check_awk),
    *safe("jq", "r*", "", raw=True, check=check_jq),
    *safe("yq", "-r*", "-r -o= -p= -P -e -c -C -M -n -i|--inplace:W -j -y --tojson --raw-output -I="),
    *safe("xmllint", "r*", "--noout --format --xpath= --html -o|--output=:w --schema=:r --huge --nonet"),
    *safe("less more most", "r*", "-N -S -R -r -i -I -F -X -e -E -n -f -s -q -M -m -x= -p= -P= -G -g -K -c -a -w -J -# "
          "-o|-O=:w -k=:u -T=:u -t=:u --lesskey-src=:u", check=check_pager),
    *safe("bat", "r*", "-n|--number -p|--plain -l|--language= -A --style= --color= --paging= --theme= -r|--line-range= "
          "-H|--highlight-line= --wrap= --tabs= -d|--diff --pager=:x", dangers={"--pager": "runs a program"}),
    *safe("iconv dos2unix_info", "r*", "-f= -t= -c -s -l -o=:w"),
    *safe("cloc tokei scc sloccount", "l*", "--by-file --quiet --json --exclude-dir= --include-lang= -l -o=:u"),
    *writes("dos2unix unix2dos", "w*", "-k -q -f -o -n"),
    *writes("patch", "w*", "-p= -i|--input=:r -R|--reverse -N|--forward --dry-run -d=:w -s -b -E -u -f -t -l -F= -o=:w "
            "-r=:w", remember=False),
    *danger("ed ex vim emacs nano pico joe micro code subl", "opens an editor, which runs commands", "r*"),
    *unknown("man info tldr", "-*", "-k -f -K -P|--pager=:x -H?:x -a -s= -w -W", remember=False,
             dangers={"-P": "runs a program", "-H": "opens a browser"}),
    *unknown("xdg-open open start", "-*", remember=False),
]  # fmt: skip
