"""Every header compiles: alone, in any order, in every standard, without exceptions, after hostile macros, switched off,
and with the stream types of other libraries.

compiles.py SETTINGS alone g++|clang++, or variants g++|clang++|nvcc
"""
import os
import random
import re
import sys

from compilers import NVCC_WARNINGS, WARNINGS, Report, Settings, Sources, complaint_of, run, skip, standards

HOSTILE = """
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define near
#define far
#define ERROR 0
#define IN
#define OUT
#define interface struct
"""


class Compiler:
    """One compiler with the flags of the house."""

    def __init__(self, settings, name):
        self.settings = settings
        self.name = name
        self.path = settings.compilers.get(name)
        if not self.path:
            skip(f"no {name} here")
        if not settings.cuda_include:
            skip("no CUDA toolkit here")
        self.nvcc = name == "nvcc"
        self.standards = ["c++17", "c++20"] if self.nvcc else standards(self.path)
        self.ending = ".cu" if self.nvcc else ".cpp"

    def command(self, source, standard, flags=(), cuda_include=None):
        include = ["-I", self.settings.include] + self.settings.isystem(cuda_include)
        if self.nvcc:
            defines = [flag for flag in flags if flag.startswith("-D")]
            others = [flag for flag in flags if not flag.startswith("-D")] + NVCC_WARNINGS
            return [self.path, f"-std={standard}", "-Xcompiler=" + ",".join(others)] + defines + include + [
                "-c", source, "-o", "/dev/null"]
        return [self.path, f"-std={standard}", "-fsyntax-only"] + WARNINGS + list(flags) + include + [source]


def including(headers, after=""):
    return "".join(f"#include <{header}>\n" for header in headers) + after + "\nint main() {}\n"


def outside_includes(settings):
    """Everything that is not ours and that our headers include: a hostile macro would break those first."""
    names = set()
    for header in settings.compiled:
        with open(f"{settings.include}/{header}") as file:
            names.update(re.findall(r"^\s*#\s*include\s*<((?!streamgauge/)[^>]+)>", file.read(), re.MULTILINE))
    return sorted(names)


def outermost(settings):
    """The headers that no other one of ours includes."""
    inside = set()
    for header in settings.headers:
        with open(f"{settings.include}/{header}") as file:
            inside.update(re.findall(r"^\s*#\s*include\s*<(streamgauge/[^>]+)>", file.read(), re.MULTILINE))
    return [header for header in settings.compiled if header not in inside]


def alone(compiler, report, sources):
    # g++ shows of every header that it needs nothing before it; clang++ sees it inside those that no other includes.
    for header in compiler.settings.compiled if compiler.name == "g++" else outermost(compiler.settings):
        name = header.replace("/", "_").replace(".hpp", "")
        source = sources.write(name + compiler.ending, including([header, header]))
        # The oldest standard by g++, the newest by clang++; together they are compiled in every one.
        for standard in compiler.standards[-1:] if compiler.name == "clang++" else compiler.standards[:1]:
            report.result(f"{compiler.name} {standard}: {header} alone and twice",
                          complaint_of(compiler.command(source, standard)))


def variants(compiler, report, sources):
    headers = compiler.settings.together
    shuffled = list(headers)
    random.Random(2026).shuffle(shuffled)
    outside = outside_includes(compiler.settings)
    guarded = "".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in outside)
    nvtx = "#if __has_include(<nvtx3/nvtx3.hpp>)\n#include <nvtx3/nvtx3.hpp>\n{}\n#endif\n".format(
        "inline void nvtx_of_the_user() { nvtx3::scoped_range const range{\"of the user\"}; }")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign_streams.cpp")) as file:
        foreign = file.read()
    # Together, for each takes seconds, and apart where they exclude one another.
    units = [
        ("all in order", including(headers), []),
        ("after NVTX's C++ header and hostile macros, in reverse, without exceptions, with per-thread default streams",
         nvtx + guarded + HOSTILE + including(headers[::-1]),
         ["-fno-exceptions", "-fno-rtti", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]),
        ("with STREAMGAUGE_DISABLE, without exceptions, after hostile macros", guarded + HOSTILE + including(headers),
         ["-DSTREAMGAUGE_DISABLE", "-fno-exceptions", "-fno-rtti"]),
        ("streams of rmm, libcu++ and cuda-api-wrappers", foreign, []),
        ("streams of rmm, libcu++ and cuda-api-wrappers with STREAMGAUGE_DISABLE", foreign, ["-DSTREAMGAUGE_DISABLE"]),
    ]
    if not compiler.nvcc:  # it takes twenty seconds for each
        units += [
            ("shuffled, before NVTX's C++ header", including(shuffled, nvtx), []),
            ("with NVTX_DISABLE", including(headers), ["-DNVTX_DISABLE"]),
        ]
    for what, text, flags in units:
        source = sources.write(re.sub(r"\W+", "_", what) + compiler.ending, text)
        # All of it in every standard, by nvcc in the newest alone. Each variant in one: the oldest by g++ and nvcc, the
        # newest by clang++.
        one = compiler.standards[-1:] if compiler.name == "clang++" else compiler.standards[:1]
        every = compiler.standards[-1:] if compiler.nvcc else compiler.standards
        for standard in every if what == "all in order" else one:
            report.result(f"{compiler.name} {standard}: {what}", complaint_of(compiler.command(source, standard, flags)))


def planted(compiler, report, sources):
    """The flags bite: each of these must be refused."""
    faults = [
        ("a missing include", "inline std::string name() { return {}; }", []),
        ("a narrowing conversion", "inline int narrow(long value) { int result = value; return result; }", []),
        ("a change of sign", "inline unsigned sign(int value) { unsigned result = value; return result; }", []),
        ("a shadowed name", "inline int shadow(int value) { { int value = 1; return value; } }", []),
        ("an undefined macro", "#if STREAMGAUGE_NOWHERE\n#endif", []),
        ("a throw without exceptions", "inline void fail() { throw 1; }", ["-fno-exceptions"]),
        ("a call of min after hostile macros",
         "#include <algorithm>\n" + HOSTILE + "inline int least(int a, int b) { return std::min(a, b); }", []),
    ]
    if not compiler.nvcc:
        faults += [("an old-style cast", "inline int cast(long value) { return (int)value; }", []),
                   ("a C++20 word in C++17", "template <class T> concept any = true;", [])]
    for what, text, flags in faults:
        source = sources.write("planted_" + re.sub(r"\W+", "_", what) + compiler.ending, text + "\nint main() {}\n")
        status, _ = run(compiler.command(source, "c++17", flags))
        report.result(f"{compiler.name} refuses {what}", "" if status else "it compiled")


def main():
    settings = Settings(sys.argv[1])
    kind, name = sys.argv[2:4]
    compiler = Compiler(settings, name)
    report = Report()
    sources = Sources(settings, f"{kind}-{name}")
    if kind == "alone":
        alone(compiler, report, sources)
    else:
        planted(compiler, report, sources)
        variants(compiler, report, sources)
    report.finish()


if __name__ == "__main__":
    main()
