"""Search and transform text: grep, rg, find, fd, sed, awk, jq, pagers, editors."""

from __future__ import annotations

import re

from ..facts import Call, Issue, Level, Outcome, Word
from .find import check_fd, check_find
from .rows import danger, safe, unknown, writes
from .scripts import check_awk, check_sed

_GREP = (
    "-a|--text -A|--after-context= -b|--byte-offset -B|--before-context= -c|--count -C|--context= --color? "
    "--colour? -D= -d= -e|--regexp= -E|--extended-regexp -f|--file=:r -F|--fixed-strings -G|--basic-regexp "
    "-h|--no-filename -H|--with-filename -i|--ignore-case -y --no-ignore-case -I --include= --exclude= "
    "--exclude-dir= --exclude-from=:r -l|--files-with-matches -L|--files-without-match --label= --line-buffered "
    "-m|--max-count= -n|--line-number -o|--only-matching -P|--perl-regexp -q|--quiet|--silent -r|--recursive "
    "-R|--dereference-recursive -s|--no-messages -T -U -v|--invert-match -w|--word-regexp -x|--line-regexp "
    "-z|--null-data -Z|--null -# --binary-files="
)
_RG = (
    "-A|--after-context= -B|--before-context= -C|--context= -c|--count --count-matches --color= --colors= --column "
    "-e|--regexp= -E|--encoding= -f|--file=:r --files -F|--fixed-strings -g|--glob= --iglob= -h -H|--with-filename "
    "--heading --no-heading --hidden -. -i|--ignore-case --ignore-file=:r -I|--no-filename -j|--threads= "
    "-l|--files-with-matches --files-without-match -L|--follow -m|--max-count= -d|--max-depth|--maxdepth= "
    "--max-filesize= -M|--max-columns= -n|--line-number -N|--no-line-number --no-config --no-ignore --no-ignore-vcs "
    "--no-messages -o|--only-matching -p|--pretty -P|--pcre2 -q|--quiet -r|--replace= -s|--case-sensitive "
    "-S|--smart-case --sort= --sortr= --stats -t|--type= -T|--type-not= --type-list --trim -u|--unrestricted "
    "-U|--multiline --multiline-dotall -v|--invert-match -V --vimgrep -w|--word-regexp -x|--line-regexp -0|--null "
    "--json --passthru --crlf --debug -a|--text --engine= --line-buffered --block-buffered --one-file-system "
    "--binary --context-separator= --field-match-separator= --max-columns-preview --byte-offset -b --include-zero "
    "--no-unicode --auto-hybrid-regex --glob-case-insensitive --type-add= --pre=:x --pre-glob= --hostname-bin=:x "
    "-z|--search-zip:u --hyperlink-format="
)


def check_grep(call: Call) -> Outcome:
    """The first operand is the pattern, unless one was given as an option."""
    operands = call.args.operands
    if not call.args.has("-e", "-f", "--files", "--type-list"):
        operands = operands[1:]
    return Outcome(operands=[Word(""), *operands])


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
        elif re.fullmatch(r"-[rRnscCSMajeh0]*[fL]", text):
            files += words[at : at + 1]
            at += 1
            seen_filter = seen_filter or text[-1] == "f"
        elif text.startswith("-") and len(text) > 1:
            if not re.fullmatch(
                r"-[rRnscCSMajeh0]+|--(?:raw-output0?|raw-input|null-input|slurp|compact-output|"
                r"color-output|monochrome-output|sort-keys|tab|join-output|ascii-output|exit-status|"
                r"stream|seq|help|version)",
                text,
            ):
                issues.append(Issue(Level.UNKNOWN, f"option {text} is not known to be harmless", "option", text))
        elif not seen_filter:
            seen_filter = True
            if re.search(r"\$ENV\b|(?<![.\w$\"])(?:input_filename|env|import|include)\b", text):
                issues.append(Issue(Level.UNKNOWN, "the filter reads the environment or other files", "text"))
        elif not operands_are_text:
            files.append(words[at - 1])
    return Outcome(issues, operands=files)


ROWS = [
    *safe("grep zgrep", "-r*", _GREP, check=check_grep, recurses="-r -R"),
    *safe(
        "rg",
        "-r*",
        _RG,
        check=check_grep,
        recurses="--hidden -. --no-ignore -u",
        dangers={"--pre": "runs a program on every file", "--hostname-bin": "runs a program"},
    ),
    *safe(
        "ag ack",
        "-r*",
        "-i -l -n -c -w -v -Q -A= -B= -C= -g= -G= --py --js --hidden -s -o --nocolor --color --nogroup --group "
        "--ignore= --ignore-dir= --pager=:x --nopager",
        check=check_grep,
        dangers={"--pager": "runs a program"},
    ),
    *safe(
        "delta diff-so-fancy",
        "r*",
        "-n|--line-numbers -s|--side-by-side --dark --light -w= --paging= --pager=:x --diff-so-fancy",
        dangers={"--pager": "runs a program"},
    ),
    *safe(
        "fzf",
        "-*",
        "-f|--filter= -q|--query= -m|--multi -e|--exact -1 -0 -i +i --ansi --height= --reverse --tac --no-sort "
        "-n|--nth= -d|--delimiter= --preview=:x --bind=:x --preview-window= --listen?:x --with-shell=:x",
        dangers=dict.fromkeys(("--preview", "--bind", "--listen", "--with-shell"), "runs commands"),
    ),
    *safe("find", "l*", "", raw=True, check=check_find),
    *safe(
        "fd",
        "-l*",
        "-H|--hidden -I|--no-ignore -u -s -i -g|--glob -F -a|--absolute-path -l|--list-details -L -p -0 "
        "-d|--max-depth= --min-depth= -t|--type= -e|--extension= -E|--exclude= -S|--size= --changed-within= "
        "--changed-before= -o= --color= -j= -1 -q -c= --strip-cwd-prefix --base-directory=:r --format= -x|--exec "
        "-X|--exec-batch",
        check=check_fd,
    ),
    *safe(
        "sed",
        "r*",
        "-n|--quiet|--silent -e|--expression= -E|-r|--regexp-extended -s|--separate -u|--unbuffered -z|--null-data "
        "-l= --posix --debug --sandbox -i|--in-place?:W -f|--file=:u --follow-symlinks",
        check=check_sed,
    ),
    *safe(
        "awk",
        "r*",
        "-F|--field-separator= -v|--assign= -f|--file=:r -P -S --posix --csv -n -N -b -c -t -i|--include=:u "
        "-l|--load=:x -e|--source=:u -E|--exec=:u -o?:u -p?:u -d?:u",
        check=check_awk,
    ),
    *safe("jq", "r*", "", raw=True, check=check_jq),
    *safe("yq", "-r*", "-r -o= -p= -P -e -c -C -M -n -i|--inplace:W -j -y --tojson --raw-output -I="),
    *safe("xmllint", "r*", "--noout --format --xpath= --html -o|--output=:w --schema=:r --huge --nonet"),
    *safe(
        "less more most",
        "r*",
        "-N -S -R -r -i -I -F -X -e -E -n -f -s -q -M -m -x= -p= -P= -G -g -K -c -a -w -J -# -o|-O=:w -k=:u -T=:u "
        "-t=:u --lesskey-src=:u",
        check=check_pager,
    ),
    *safe(
        "bat",
        "r*",
        "-n|--number -p|--plain -l|--language= -A --style= --color= --paging= --theme= -r|--line-range= "
        "-H|--highlight-line= --wrap= --tabs= -d|--diff --pager=:x",
        dangers={"--pager": "runs a program"},
    ),
    *safe("iconv dos2unix_info", "r*", "-f= -t= -c -s -l -o=:w"),
    *safe("cloc tokei scc sloccount", "l*", "--by-file --quiet --json --exclude-dir= --include-lang= -l -o=:u"),
    *writes("dos2unix unix2dos", "w*", "-k -q -f -o -n"),
    *writes(
        "patch",
        "w*",
        "-p= -i|--input=:r -R|--reverse -N|--forward --dry-run -d=:w -s -b -E -u -f -t -l -F= -o=:w -r=:w",
        remember=False,
    ),
    *danger("ed vim emacs nano pico joe micro code subl", "opens an editor, which runs commands", "r*"),
    *unknown(
        "man info tldr",
        "-*",
        "-k -f -K -P|--pager=:x -H?:x -a -s= -w -W",
        remember=False,
        dangers={"-P": "runs a program", "-H": "opens a browser"},
    ),
    *unknown("xdg-open open start", "-*", remember=False),
]
