"""Reads a Python script of ``execute_code``: what in it goes beyond computing and calling tools.

Python cannot be bounded by a list of bad words, so this is a list of good ones: a small language of expressions, loops
and functions over modules that only compute. A script within it can reach nothing but the tools, each of which is
judged when it is called. Whatever is outside is told, with its place; nothing here decides.
"""

from __future__ import annotations

import ast
import builtins
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

READING_TOOLS = frozenset({"read_file", "search_files", "web_search", "web_extract"})
CHANGING_TOOLS = frozenset({"write_file", "patch", "terminal"})
TOOLS_MODULE = "hermes_tools"
MAX_FINDINGS = 20

_MODULE_NAMES = {
    "__future__": "annotations",
    "base64": "b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "calendar": "monthrange isleap month_name month_abbr day_name day_abbr",
    "collections": "Counter defaultdict deque OrderedDict namedtuple ChainMap",
    "copy": "copy deepcopy",
    "csv": "reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONNUMERIC QUOTE_NONE",
    "datetime": "datetime date time timedelta timezone UTC",
    "decimal": "Decimal ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP InvalidOperation",
    "difflib": "unified_diff ndiff context_diff SequenceMatcher get_close_matches",
    "fractions": "Fraction",
    "functools": "reduce partial cmp_to_key lru_cache cache",
    "hashlib": "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s",
    "heapq": "heappush heappop heapify heapreplace heappushpop nlargest nsmallest merge",
    "html": "escape unescape",
    "io": "StringIO BytesIO",
    "itertools": "accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile "
    "filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest",
    "json": "loads dumps JSONDecodeError",
    "math": "acos asin atan atan2 cbrt ceil comb copysign cos cosh degrees dist e exp exp2 fabs factorial floor fmod "
    "fsum gcd hypot inf isclose isfinite isinf isnan isqrt lcm log log10 log1p log2 modf nan perm pi pow prod radians "
    "sin sinh sqrt tan tanh tau trunc",
    "operator": "itemgetter add sub mul truediv floordiv mod neg eq ne lt le gt ge and_ or_ xor not_ contains",
    "os.path": "join basename dirname splitext split normpath commonprefix commonpath isabs sep",
    "pprint": "pprint pformat pp",
    "random": "random randint choice choices sample shuffle uniform gauss randrange seed Random",
    "re": "compile search match fullmatch findall finditer split sub subn escape error Pattern Match "
    "A ASCII I IGNORECASE M MULTILINE S DOTALL U UNICODE X VERBOSE",
    "statistics": "mean fmean median mode multimode stdev pstdev variance pvariance quantiles harmonic_mean "
    "geometric_mean",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation whitespace "
    "printable capwords",
    "struct": "pack unpack unpack_from iter_unpack calcsize",
    "sys": "exit maxsize version_info",
    "textwrap": "dedent indent fill wrap shorten",
    "time": "time sleep perf_counter monotonic strftime strptime gmtime localtime",
    "typing": "Any Optional Union List Dict Set Tuple Iterable Iterator Sequence Mapping Callable Literal",
    "unicodedata": "name normalize category lookup combining east_asian_width",
    "urllib.parse": "quote unquote quote_plus unquote_plus urlencode urlparse urlsplit urlunparse urlunsplit urljoin "
    "parse_qs parse_qsl",
    "uuid": "uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL",
    "zlib": "crc32 adler32 compress decompress",
}
MODULES: Mapping[str, frozenset[str]] = {
    **{module: frozenset(names.split()) for module, names in _MODULE_NAMES.items()},
    TOOLS_MODULE: READING_TOOLS | CHANGING_TOOLS,
}
"""What may be used of each module: nothing that opens, runs, sends, loads, evaluates a text or takes an attribute by
name. A new name needs the same look."""

_BUILTIN_NAMES = """
abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset hash
hex id int isinstance issubclass iter len list map max min next object oct ord pow print range repr reversed round set
slice sorted str sum tuple zip True False None Ellipsis NotImplemented"""
_SAFE_BUILTINS = frozenset(_BUILTIN_NAMES.split()) | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException) and not name.startswith("_")
}
_OTHER_BUILTINS = frozenset(dir(builtins)) - _SAFE_BUILTINS
_INNER_ATTRIBUTE = re.compile(r"_|(?:gi|cr|ag|tb|f|co)_|(?:mro|obj)\Z")
"""Attributes that lead from a value to the interpreter: classes, frames, code, and what a format's path failed at."""

_NODE_NAMES = """
Module Expr Assign AnnAssign AugAssign For While If With withitem Try TryStar ExceptHandler Raise Assert Return Delete
Pass Break Continue Global Nonlocal FunctionDef arguments arg Lambda Import ImportFrom alias Match match_case MatchValue
MatchSingleton MatchSequence MatchStar MatchMapping MatchAs MatchOr BoolOp NamedExpr BinOp UnaryOp IfExp Dict Set
ListComp SetComp DictComp GeneratorExp comprehension Yield YieldFrom Compare Call keyword FormattedValue JoinedStr
Constant Attribute Subscript Starred Name List Tuple Slice Load Store Del And Or Add Sub Mult MatMult Div Mod Pow LShift
RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn"""
_NODES = frozenset(_NODE_NAMES.split())
_NODE_WORDS = {"ClassDef": "defines a class", "MatchClass": "takes objects apart by class"}
_RUNNER_NAMES = "system popen run call check_call check_output Popen getoutput getstatusoutput"
_RUNNERS = frozenset(_RUNNER_NAMES.split())


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that goes beyond the small language."""

    reason: str
    start: int = 0
    """First character in the script."""
    end: int = 0


@dataclass(frozen=True, slots=True)
class ScriptFacts:
    """What a script is made of."""

    findings: tuple[Finding, ...] = ()
    """Empty when it can reach nothing but the tools."""
    tools: frozenset[str] = frozenset()
    """Tools that it names."""
    commands: tuple[str, ...] = ()
    """Shell commands that stand in it word for word, run without a tool."""


def read_script(code: str) -> ScriptFacts:
    """Return what a script is made of; what cannot be parsed is a finding."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ScriptFacts(findings=(Finding("cannot be read safely: it is no Python that parses", 0, len(code)),))
    reader = _Reader(code)
    try:
        reader.read(tree)
    except RecursionError:
        return ScriptFacts(findings=(Finding("cannot be read safely: it is nested too deeply", 0, len(code)),))
    return ScriptFacts(tuple(reader.findings[:MAX_FINDINGS]), frozenset(reader.tools), tuple(reader.commands))


class _Reader:
    """Walks one tree."""

    def __init__(self, code: str) -> None:
        self._places = _Places(code)
        self._modules: dict[str, str] = {}
        """Local name -> the module that it is bound to somewhere in the script; it then means that everywhere."""
        self._chains: set[ast.AST] = set()
        """Nodes that were judged as part of a longer chain of attributes."""
        self.findings: list[Finding] = []
        self.tools: set[str] = set()
        self.commands: list[str] = []

    def read(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
        for node in nodes:
            self._look(node)
        self.findings.sort(key=lambda finding: finding.start)

    def _look(self, node: ast.AST) -> None:
        name = type(node).__name__
        if name not in _NODES:
            self._tell(node, _NODE_WORDS.get(name, f"uses {name}, which is not known to be harmless"))
        if not isinstance(node, ast.Constant | ast.Attribute | ast.Name | ast.alias | ast.ImportFrom):
            self._look_at_words(node)
        match node:
            case ast.Attribute():
                self._attribute(node)
            case ast.Name() if node not in self._chains:
                self._name(node)
            case ast.Call():
                self._command(node)
            case ast.FunctionDef() if getattr(node, "type_params", ()):
                self._tell(node, "uses type parameters")

    def _look_at_words(self, node: ast.AST) -> None:
        """Names that are plain text in the tree: functions, arguments, keywords, captures."""
        for _, value in ast.iter_fields(node):
            for word in value if isinstance(value, list) else (value,):
                if isinstance(word, str) and word.startswith("__"):
                    self._tell(node, f"uses {word}")

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                module, local = alias.name, alias.asname or alias.name.partition(".")[0]
                bound = module if alias.asname else local
            else:
                base = "." * node.level + (node.module or "")
                local = alias.asname or alias.name
                module = bound = f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base
                if bound == base:
                    self._import_name(node, base, alias.name, local)
                    continue
            if local.startswith("__"):
                self._tell(node, f"uses {local}")
            elif module not in MODULES and not any(known.startswith(f"{module}.") for known in MODULES):
                self._tell(node, f"imports {module}")
            elif self._modules.setdefault(local, bound) != bound:
                self._tell(node, f"gives the name {local} to two modules")

    def _import_name(self, node: ast.ImportFrom, module: str, name: str, local: str) -> None:
        """Judge ``from module import name as local``."""
        if name not in MODULES.get(module, ()) or (local.startswith("__") and module != "__future__"):
            self._tell(node, f"imports {name} from {module}")
        elif module == TOOLS_MODULE:
            self.tools.add(name)

    def _attribute(self, node: ast.Attribute) -> None:
        if _is_type_name(node):
            self._chains |= {node.value, *([node.value.func] if isinstance(node.value, ast.Call) else [])}
            return
        if node in self._chains:
            return
        names, root = _chain(node)
        if root is not None and root.id in self._modules:
            self._chains |= {part for part in ast.walk(node) if isinstance(part, ast.Attribute | ast.Name)}
            self._module_attribute(node, names)
        elif _INNER_ATTRIBUTE.match(node.attr):
            self._tell(node, f"uses .{node.attr}")
        elif not isinstance(node.ctx, ast.Load):
            self._tell(node, f"changes .{node.attr}")

    def _module_attribute(self, node: ast.Attribute, names: list[str]) -> None:
        """Judge ``json.loads`` and ``datetime.datetime.now``: module, its own name, then attributes of a value."""
        module, rest = self._modules[names[0]], names[1:]
        while rest and f"{module}.{rest[0]}" in MODULES:
            module, rest = f"{module}.{rest[0]}", rest[1:]
        used = rest[0] if rest else ""
        if used not in MODULES.get(module, ()):
            self._tell(node, f"uses {'.'.join((module, *rest[:1]))}")
        elif any(_INNER_ATTRIBUTE.match(name) for name in rest[1:]):
            self._tell(node, f"uses .{'.'.join(rest[1:])}")
        elif not isinstance(node.ctx, ast.Load):
            self._tell(node, f"changes {'.'.join((module, *rest))}")
        elif module == TOOLS_MODULE:
            self.tools.add(used)

    def _name(self, node: ast.Name) -> None:
        name = node.id
        if name in self._modules and isinstance(node.ctx, ast.Load):
            self._tell(node, f"hands the module {name} around")
        elif name != "__name__" and (name in _OTHER_BUILTINS or name.startswith("__")):
            self._tell(node, f"uses {name}")
        elif name in MODULES[TOOLS_MODULE]:
            self.tools.add(name)

    def _command(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in _RUNNERS or not node.args:
            return
        first = node.args[0]
        words = list(first.elts) if isinstance(first, ast.List | ast.Tuple) else [first]
        texts = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        if texts and len(texts) == len(words):
            self.commands.append(texts[0] if words == [first] else shlex.join(texts))

    def _tell(self, node: ast.AST, reason: str) -> None:
        self.findings.append(Finding(reason, *self._places.of(node)))


def _is_type_name(node: ast.Attribute) -> bool:
    """Tell whether it is ``type(x).__name__`` or ``x.__class__.__name__``, which is only a word."""
    if node.attr != "__name__" or not isinstance(node.ctx, ast.Load):
        return False
    match node.value:
        case ast.Attribute(attr="__class__"):
            return True
        case ast.Call(func=ast.Name(id="type"), args=[only], keywords=[]):
            return not isinstance(only, ast.Starred)
    return False


def _chain(node: ast.Attribute) -> tuple[list[str], ast.Name | None]:
    """Return the names of ``a.b.c`` and its first node; no node when it does not begin with a name."""
    names: list[str] = []
    at: ast.expr = node
    while isinstance(at, ast.Attribute):
        names.append(at.attr)
        at = at.value
    return ([at.id, *reversed(names)], at) if isinstance(at, ast.Name) else ([], None)


class _Places:
    """Lines and UTF-8 columns to characters."""

    def __init__(self, code: str) -> None:
        self._lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", code)
        self._starts = list(_sums(self._lines))

    def of(self, node: ast.AST) -> tuple[int, int]:
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        if not line:
            return 0, 0
        start = self._at(line, column)
        return start, max(start, self._at(node.end_lineno or line, node.end_col_offset or 0))  # type: ignore[attr-defined]

    def _at(self, line: int, column: int) -> int:
        if line > len(self._lines):
            return self._starts[-1] if self._starts else 0
        text = self._lines[line - 1].encode("utf-8", "surrogatepass")[:column]
        return self._starts[line - 1] + len(text.decode("utf-8", "ignore"))


def _sums(lines: list[str]) -> Iterator[int]:
    total = 0
    for line in lines:
        yield total
        total += len(line)
