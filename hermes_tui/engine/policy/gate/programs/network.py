"""Programs that talk to other machines: downloads, senders, resolvers, remote shells."""

from __future__ import annotations

import re

from ..facts import Call, Inner, Issue, Level, Outcome, Word
from .rows import danger, parent, safe, unknown

_SENDS = "sends data to another machine"
_CURL = (
    "-s|--silent -S|--show-error -L|--location -f|--fail --fail-with-body -I|--head -i|--include -v|--verbose "
    "-k|--insecure:u -A|--user-agent= -e|--referer= -H|--header= -m|--max-time= --connect-timeout= --retry= "
    "--retry-delay= --retry-all-errors --retry-connrefused -w|--write-out= -# --progress-bar --compressed "
    "-g|--globoff -G|--get --http1.1 --http2 --http3 -4|--ipv4 -6|--ipv6 --max-redirs= -r|--range= -N|--no-buffer "
    "--no-progress-meter --proto= --tlsv1.2 --tlsv1.3 -J|--remote-header-name -Z|--parallel --create-dirs "
    "--max-filesize= -C|--continue-at= -o|--output=:t -O|--remote-name:W --output-dir=:w -D|--dump-header=:w "
    "-c|--cookie-jar=:w -b|--cookie=:u -X|--request=:u -d|--data|--data-ascii=:d --data-raw=:d --data-binary=:d "
    "--data-urlencode=:d --json=:d -F|--form=:d --form-string=:d -T|--upload-file=:d -u|--user=:d -n|--netrc:d "
    "--netrc-file=:d -E|--cert=:d --key=:d -K|--config=:d -x|--proxy=:d --socks5=:d --preproxy=:d --resolve=:u "
    "--connect-to=:u --url= --cacert=:r --capath=:r --unix-socket=:d -Q|--quote=:d --oauth2-bearer=:d --trace=:w "
    "--trace-ascii=:w --stderr=:w --engine=:x --doh-url=:u --interface= --limit-rate= --noproxy= -q|--disable "
    "-R|--remote-time -z|--time-cond= --path-as-is -a|--append --url-query=:d --variable=:d --expand-url=:d "
    "--expand-data=:d --expand-header=:d --proxy1.0=:d --socks4=:d --socks4a=:d --socks5-hostname=:d --libcurl=:w "
    "--etag-save=:w --etag-compare=:r --hsts=:w --alt-svc=:w --no-clobber --remove-on-error --ssl-reqd "
    "--location-trusted:d"
)
_CURL_SENDS = [
    "-d",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "--form-string",
    "-T",
    "-u",
    "-n",
    "--netrc-file",
    "-E",
    "--key",
    "-K",
    "-x",
    "--socks5",
    "--preproxy",
    "--unix-socket",
    "-Q",
    "--oauth2-bearer",
    "--engine",
    "--url-query",
    "--variable",
    "--expand-url",
    "--expand-data",
    "--expand-header",
    "--proxy1.0",
    "--socks4",
    "--socks4a",
    "--socks5-hostname",
    "--location-trusted",
]
_WGET = (
    "-q|--quiet -nv -v -O|--output-document=:t -P|--directory-prefix=:w -c|--continue -N|--timestamping "
    "-r|--recursive -np -l= -k -p -A= -R= -T|--timeout= -t|--tries= --spider -S|--server-response "
    "--no-check-certificate:u -U|--user-agent= --header= -nc|--no-clobber -i|--input-file=:r -o|--output-file=:w "
    "-a=:w --show-progress --progress= -4 -6 --post-data=:d --post-file=:d --body-data=:d --body-file=:d "
    "--method=:u --user=:d --password=:d -e|--execute=:d --use-askpass=:x --load-cookies=:r --save-cookies=:w "
    "--max-redirect= -nd -x -m|--mirror -E -b|--background"
)
_SSH = (
    "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y -B= -b= -c= -D= -E= -e= -F= -I= -i= -J= "
    "-L= -l= -m= -O= -o= -P= -p= -Q= -R= -S= -W= -w="
)

_CURL_DATA = frozenset(
    ["-d", "--data-raw", "--data-binary", "--data-urlencode", "--json", "-F", "--form-string", "-T", "-u"]
)
_LOOPBACK = re.compile(
    r"(?:https?://)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?=[:/?]|\Z)(?!:\d*@)(?!:[^/]*@)"
)


def check_curl(call: Call) -> Outcome:
    """``curl``: a page to stdout is ordinary; files that are sent are read first."""
    issues: list[Issue] = []
    cwds = call.command.cwds
    for value in call.args.values("-d", "--data-binary", "--data-urlencode", "--json", "-F", "-T", "-K", "-H"):
        for match in re.finditer(r"(?:^|[=;])[@<]([^;,]+)", value.text):
            issues += call.guard.judge(type(value)(match[1], value.start, value.end), "read", cwds)
    for value in call.args.values("-T", "-K", "--netrc-file", "-E", "--key"):
        issues += call.guard.judge(value, "read", cwds)
    for value in call.args.values("-b"):
        if "=" not in value.text and not value.dynamic:
            issues += call.guard.judge(value, "read", cwds)
    hosts = [*call.args.operands, *call.args.values("--url")]
    if hosts and all(_LOOPBACK.match(word.text) for word in hosts):
        return Outcome(issues, operands=[], waived=_CURL_DATA)
    if any(value.dynamic for value in call.args.values("-A", "-e", "-b")):
        issues.append(Issue(Level.DANGER, "sends what is known only at run time"))
    issues += _judge_hosts(call)
    return Outcome(issues, operands=[])


def check_httpie(call: Call) -> Outcome:
    """``http [METHOD] URL ITEM...``: items are sent, ``@file`` with the file's content."""
    words = [word for word in call.args.operands if not re.fullmatch(r"[A-Z]{3,7}", word.text)]
    issues: list[Issue] = []
    for item in words[1:]:
        _, at, path = item.text.partition("@")
        if at:
            issues += call.guard.judge(Word(path, item.start, item.end), "read", call.command.cwds)
    sends = words[1:] or call.command.stdin or len(words) < len(call.args.operands)
    method = next((w.text for w in call.args.operands if re.fullmatch(r"[A-Z]{3,7}", w.text)), "")
    if words and not _LOOPBACK.match(words[0].text) and sends and method not in ("GET", "HEAD", "OPTIONS"):
        issues.append(Issue(Level.DANGER, _SENDS))
    return Outcome(issues, operands=[])


def _judge_hosts(call: Call) -> list[Issue]:
    issues: list[Issue] = []
    for word in call.args.operands:
        if word.dynamic:
            issues.append(Issue(Level.DANGER, "sends what is known only at run time in an address"))
        elif word.text.startswith("file:"):
            path = re.sub(r"^file:(?://[^/]*)?", "", word.text)
            issues += call.guard.judge(type(word)(path, word.start, word.end), "read", call.command.cwds)
        elif re.match(r"(?:dict|gopher|telnet|smtps?|ldaps?|tftp|scp|sftp):", word.text):
            issues.append(Issue(Level.DANGER, _SENDS))
    return issues


def check_wget(call: Call) -> Outcome:
    """``wget`` writes what it loads, ``-O-`` prints it."""
    outputs = [value.text for value in call.args.values("-O")]
    quiet = outputs == ["-"] or call.args.has("--spider")
    return Outcome(_judge_hosts(call), base=Level.UNKNOWN if quiet else None, operands=[])


def check_resolver(call: Call) -> Outcome:
    """A name that holds a substitution carries data out."""
    if any(word.dynamic for word in call.command.words[1:]):
        return Outcome([Issue(Level.DANGER, "sends what is known only at run time as a host name")])
    return Outcome()


def check_ssh(call: Call) -> Outcome:
    """``ssh host command``: the remote command is judged too."""
    operands = call.args.operands
    inner = []
    if len(operands) > 1:
        inner = [Inner(script=operands[1])] if len(operands) == 2 else [Inner(words=operands[1:])]
    return Outcome([], inner, operands=[])


def check_copy(call: Call) -> Outcome:
    """``scp``: local files are read or written."""
    issues: list[Issue] = []
    for i, word in enumerate(call.args.operands):
        if ":" not in word.text.split("/")[0]:
            last = i == len(call.args.operands) - 1
            issues += call.guard.judge(word, "write" if last else "read", call.command.cwds)
    return Outcome(issues, operands=[])


def check_digest(call: Call) -> Outcome:
    """``openssl dgst``, ``rand``, ``x509``: harmless unless they sign, write or take a key."""
    words = [word.text for word in call.args.operands]
    if any(word in ("-out", "-sign", "-signkey", "-CAkey", "-key", "-hmac", "-writerand", "-engine") for word in words):
        return Outcome([Issue(Level.DANGER, "handles keys or credentials")], operands=[])
    names = [word for word in call.args.operands if not word.text.startswith("-")]
    return Outcome(
        [issue for word in names for issue in call.guard.judge(word, "read", call.command.cwds)], operands=[]
    )


ROWS = [
    parent(
        "openssl",
        "",
        safe("version list help ciphers errstr", "-*", "-a -v -d"),
        safe("dgst sha256 md5 rand prime x509 verify asn1parse", "-*", raw=True, check=check_digest),
        danger("*", "handles keys or credentials", raw=True),
        remember=False,
    ),
    *unknown("curl", "-*", _CURL, check=check_curl, remember=False, dangers=dict.fromkeys(_CURL_SENDS, _SENDS)),
    *unknown(
        "wget wget2",
        "-*",
        _WGET,
        check=check_wget,
        remember=False,
        dangers={
            "--post-data": _SENDS,
            "--post-file": _SENDS,
            "--body-data": _SENDS,
            "--body-file": _SENDS,
            "-e": "sets inline configuration",
            "--use-askpass": "runs a program",
            "--user": _SENDS,
            "--password": _SENDS,
        },
    ),
    *unknown(
        "http https httpie xh",
        "-*",
        "-b|--body -h|--headers -v|--verbose -j|--json -f|--form -p|--print= -o|--output=:t -d|--download -F|--follow "
        "-a|--auth=:d --session=:u --check-status --ignore-stdin --timeout= --verify= --pretty= -s|--style=",
        check=check_httpie,
        remember=False,
        dangers={"-a": _SENDS},
    ),
    *unknown("aria2c axel lynx w3m links elinks", "-*", "--on-download-complete=:x -dump", remember=False),
    *unknown(
        "yt-dlp youtube-dl",
        "-*",
        "--exec=:x --exec-before-download=:x --downloader=:x --config-location|--config-locations=:x --plugin-dirs=:x "
        "--cookies=:r --cookies-from-browser=:d -o|--output=:w -P|--paths=:w -f|--format= -x -F -q -i",
        remember=False,
        dangers={"--cookies-from-browser": "reads the cookies of a browser"},
    ),
    *unknown(
        "ping ping6 traceroute tracepath mtr dig nslookup host whois getent resolvectl drill arp ip ifconfig "
        "netstat ss route",
        "-*",
        "-c= -n -a -t= -p= -l -u -x -4 -6 -w= -W= -i= +short -o",
        check=check_resolver,
        remember=False,
    ),
    *danger("nc telnet tftp ftp lftp sftp cryptcat rlogin rsh", _SENDS, raw=True, check=check_resolver),
    *danger("ssh mosh autossh sshpass", "opens a shell on another machine", "-*", _SSH, stops=True, check=check_ssh),
    *danger(
        "scp",
        "copies to or from another machine",
        "-*",
        "-r -p -q -v -C -P= -i= -o= -F= -J= -l= -c= -S= -3 -B -T",
        check=check_copy,
    ),
    *danger(
        "ssh-keygen ssh-add ssh-copy-id ssh-agent gpg gpg2 age pass security keytool certutil step "
        "secret-tool op bw vault",
        "handles keys or credentials",
        raw=True,
    ),
    *unknown(
        "nmap",
        "-*",
        "-p= -sV -sn -Pn -A --script?:x -oN=:t -oX=:t -oA=:t -oG=:t -iL=:r -v",
        single=True,
        remember=False,
    ),
    *danger(
        "mail mailx sendmail mutt msmtp swaks rclone s3cmd gsutil aws gcloud az doctl heroku fly flyctl vercel "
        "netlify wrangler firebase ngrok cloudflared tailscale wg wg-quick openvpn iptables ip6tables nft ufw "
        "firewall-cmd tcpdump tshark hydra sqlmap msfconsole twurl",
        "uses the network in ways that cannot be foreseen",
        raw=True,
    ),
]
