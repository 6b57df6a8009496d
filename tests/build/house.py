"""The rules of the house that can be read off the headers: order, layers, includes, names.

house.py SETTINGS. First it plants each kind of violation in a copy of the text and must see it, then it looks at the
headers as they are.
"""
import os
import re
import sys

from compilers import Report, Settings

DOOR = "streamgauge/streamgauge.hpp"
ANALYSIS = re.compile(r"^streamgauge/(version|time|sample|analyze/\w+|report/\w+)\.hpp$")
CUDA = re.compile(r"cuda|nvtx|nvtoolsext|cupti|nvml|cublas", re.IGNORECASE)
TOO_HEAVY = ("iostream sstream iomanip regex random functional unordered_map thread filesystem map mutex memory cmath "
             "charconv").split()
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# Each with what it is, looked for in code without comments and strings.
FORBIDDEN = [
    (r"^\s*(inline\s+)?namespace\s*\{", "an anonymous namespace"),
    (r"^static\s", "a static function or variable at namespace scope"),
    (r"\busing\s+namespace\b", "using namespace"),
    (r"^\s*#\s*define\b", "a macro"),
    (r"\bget_\w+", "a name with get_"),
    (r"\b_[A-Z]\w*|\b(?!__builtin_|__VERSION__\b)\w*__\w*", "a reserved name"),
    (r"\bbool\s+(const\s+)?\w+\s*(=\s*\w+\s*)?[,)]", "a boolean parameter"),
]
FOLDER_WORDS = re.compile(r"(utils?|common|helpers?|detail|base|manager|misc)")


def code_of(text):
    """The text without comments and without the insides of strings."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return pattern.sub(lambda m: '""' if m.group().startswith('"') else "\n" * m.group().count("\n"), text)


def includes_of(text):
    return [(mark, name) for mark, name in INCLUDE.findall(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))]


def behind(name, texts):
    """A header and every header of ours that it reaches."""
    seen, open_ = [], [name]
    while open_:
        header = open_.pop()
        if header in texts and header not in seen:
            seen.append(header)
            open_ += [included for _, included in includes_of(texts[header])]
    return seen


def violations(order, texts):
    """`order`: the header list; `texts`: every file found under include/, by its path in there."""
    found = []
    found += [f"{header}: listed, but not there" for header in order if header not in texts]
    found += [f"{header}: not in the header list of CMakeLists.txt" for header in texts if header not in order]
    place = {header: index for index, header in enumerate(order)}
    behind_the_door = behind(DOOR, texts)
    for header, text in texts.items():
        if not text.startswith("#pragma once\n"):
            found.append(f"{header}: does not begin with #pragma once")
        if len(text.splitlines()) > 300:
            found.append(f"{header}: longer than 300 lines")
        if FOLDER_WORDS.search(header):
            found.append(f"{header}: a name that says nothing")
        for mark, included in includes_of(text):
            if mark == '"':
                found.append(f"{header}: includes \"{included}\" in quotes")
            elif included.startswith("streamgauge/"):
                if included not in place:
                    found.append(f"{header}: includes {included}, which is not in the list")
                elif place[included] >= place.get(header, -1):
                    found.append(f"{header}: includes {included}, which does not stand above it")
            elif CUDA.search(included) and ANALYSIS.match(header):
                found.append(f"{header}: the analysis wing includes {included}")
            if ANALYSIS.match(header) and re.match(r"streamgauge/(mark|measure)/", included):
                found.append(f"{header}: the analysis wing includes {included} of the measuring wing")
            if included in TOO_HEAVY and header in behind_the_door:
                found.append(f"{header}: includes <{included}>, and the door includes it")
        code = code_of(text)
        # What the compiler defines is asked for in directives only; its version is a text, which none can take.
        plain = re.sub(r"^[ \t]*#(?![ \t]*define)(?:[^\n]*\\\n)*[^\n]*", "", code, flags=re.MULTILINE)
        plain = re.sub(r"\]\s*\([^()]*\)", "]()", plain)  # a lambda's parameters are its own business
        for pattern, what in FORBIDDEN:
            for match in re.finditer(pattern, plain, re.MULTILINE):
                line = plain.count("\n", 0, match.start()) + 1
                found.append(f"{header}:{line}: {what}: {match.group().strip()}")
    return found


def main():
    settings = Settings(sys.argv[1])
    report = Report()
    texts = {}
    for folder, _, files in os.walk(settings.include):
        for name in files:
            path = os.path.join(folder, name)
            with open(path) as file:
                texts[os.path.relpath(path, settings.include)] = file.read()
    before = set(violations(settings.headers, texts))

    planted = [
        ("an include from below", "streamgauge/time.hpp", "#include <streamgauge/sample.hpp>"),
        ("a header that includes itself", "streamgauge/sample.hpp", "#include <streamgauge/sample.hpp>"),
        ("CUDA in the analysis wing", "streamgauge/sample.hpp", "#include <cuda_runtime_api.h>"),
        ("NVTX in the analysis wing", "streamgauge/sample.hpp", "#  include <nvtx3/nvToolsExt.h>"),
        ("a heavy header behind the door", "streamgauge/sample.hpp", "#include <iostream>"),
        ("an include in quotes", "streamgauge/sample.hpp", '#include "time.hpp"'),
        ("an unknown header of ours", "streamgauge/sample.hpp", "#include <streamgauge/nowhere.hpp>"),
        ("an anonymous namespace", "streamgauge/time.hpp", "namespace {\n}"),
        ("a static function", "streamgauge/time.hpp", "static int one() { return 1; }"),
        ("using namespace", "streamgauge/time.hpp", "using namespace std;"),
        ("a macro", "streamgauge/time.hpp", "#define STREAMGAUGE_MARK(x) x"),
        ("a name with get_", "streamgauge/time.hpp", "int get_time();"),
        ("a reserved name", "streamgauge/time.hpp", "int __time();"),
        ("a boolean parameter", "streamgauge/time.hpp", "void wait(bool spin);"),
        ("300 lines", "streamgauge/time.hpp", "\n" * 301),
    ]
    for what, header, line in planted:
        changed = dict(texts)
        changed[header] = texts[header] + line + "\n"
        new = set(violations(settings.headers, changed)) - before
        report.result(f"sees {what}", "" if new else f"planted in {header} and not seen: {line}")
    report.result("sees a header that is not listed",
                  "" if set(violations(settings.headers[1:], texts)) - before else "not seen")
    report.result("sees a listed header that is not there",
                  "" if set(violations(settings.headers + ["streamgauge/nowhere.hpp"], texts)) - before else "not seen")

    report.result("the headers keep the rules of the house", "\n".join(sorted(before)))
    report.finish()


main()
