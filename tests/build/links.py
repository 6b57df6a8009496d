"""Units that were built differently, in one program: they link in any order and behave, or they do not link at all.

links.py SETTINGS
"""
import itertools
import os
import re
import sys

from compilers import Report, Settings, Sources, complaint_of, run, skip

# Compiled twice, as unit `one` and as unit `two`. Inline functions come out at -O0, so the linker keeps one of each and
# a body that depended on a macro would behave like the other unit's.
UNIT = """
#include <streamgauge/streamgauge.hpp>
#include <cstdio>
namespace sg = streamgauge;

std::size_t NAME_null_stream() {
  return reinterpret_cast<std::size_t>(sg::stream_ref{cudaStream_t{nullptr}}.handle());
}
int NAME_checked() {
#if defined(__cpp_exceptions)
  try {
    sg::check(cudaErrorInvalidValue, "of the test");
  } catch (sg::cuda_error const& error) {
    return error.status() == cudaErrorInvalidValue ? 1 : 0;
  }
  return 0;
#else
  sg::check(cudaSuccess, "of the test");
  return 2;
#endif
}
void NAME_enters(sg::recorder& recorder) {
  sg::phase phase{recorder, "NAME"};
  for (int i = 0; i < 3; ++i) {
    auto const scope = phase.enter(sg::host_only);
    sg::scoped_range const range{"NAME"};
  }
}
"""
MAIN = """
#include <streamgauge/streamgauge.hpp>
#include <cstdio>
namespace sg = streamgauge;
std::size_t one_null_stream(), two_null_stream();
int one_checked(), two_checked();
void one_enters(sg::recorder&), two_enters(sg::recorder&);
int main() {
  sg::recorder recorder;
  one_enters(recorder);
  two_enters(recorder);
  auto const recording = recorder.collect();
  std::size_t samples = 0;
  for (auto const& series : recording.all) samples += series.samples.size();
  std::printf("null %zu %zu checked %d %d series %zu samples %zu\\n", one_null_stream(), two_null_stream(), one_checked(),
              two_checked(), recording.all.size(), samples);
}
"""

# Types of ours that go from one unit to another.
KINDS = ["scoped_range", "range", "deferred_ranges", "recorder", "phase", "interval", "capture_guard"]
TAKES = "".join(f"#include <streamgauge/{header}.hpp>\n" for header in (
    "streamgauge", "mark/deferred_range", "measure/interval", "measure/capture_guard"))
TAKES += "".join(f"void takes(streamgauge::{kind}*);\n" for kind in KINDS)
GIVES = TAKES + "int main() {\n" + "".join(
    f"  takes(static_cast<streamgauge::{kind}*>(nullptr));\n" for kind in KINDS) + "}\n"
TAKES += "".join(f"void takes(streamgauge::{kind}*) {{}}\n" for kind in KINDS)

USES = """
#include <streamgauge/streamgauge.hpp>
namespace sg = streamgauge;
void uses(cudaStream_t stream);
void uses(cudaStream_t stream) {
  sg::recorder recorder;
  sg::phase phase{recorder, "phase"};
  sg::scoped_range const range{"range"};
  auto const scope = phase.enter(stream);
}
"""
# NVTX's own header brings the look-up of a tool along, by dlopen, wherever it is included.
CUDA = re.compile(r"^\s+U cu(?:da|[A-Z]).*", re.MULTILINE)
OUTSIDE = re.compile(r"^\s+U (?:cu(?:da|[A-Z])|nvtx|dl).*", re.MULTILINE)


class Linker:
    def __init__(self, settings, compiler, sources):
        self.path = settings.compilers[compiler]
        self.sources = sources
        self.include = ["-I", settings.include] + settings.isystem()
        folder = os.path.dirname(settings.cudart)
        self.libraries = [settings.cudart, f"-Wl,-rpath,{folder}", "-ldl", "-lpthread"]

    def compile(self, name, text, *flags):
        """The object, or the complaint."""
        source = self.sources.write(name + ".cpp", text)
        target = os.path.join(self.sources.folder, name + ".o")
        complaint = complaint_of([self.path, "-std=c++17", "-c", source, "-o", target] + list(flags) + self.include)
        return target, complaint

    def link(self, *objects):
        program = os.path.join(self.sources.folder, "program")
        status, output = run([self.path] + list(objects) + ["-o", program] + self.libraries)
        return program, "" if status == 0 else output or "the linker said nothing"


def mixed_units(linker, report, compiler):
    """Unit one: its own default stream and no exceptions, or only one of the two; unit two: neither."""
    main, complaint = linker.compile("main", MAIN)
    two, more = linker.compile("two", UNIT.replace("NAME", "two"))
    complaint = complaint or more
    for what, flags, null, checked in [
        ("another null stream", ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"], 2, 1),
        ("no exceptions", ["-fno-exceptions", "-fno-rtti"], 1, 2),
        ("both", ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-fno-exceptions"], 2, 2),
        ("another optimisation", ["-O2"], 1, 1),
        ("another standard", ["-std=c++20"], 1, 1),
    ]:
        one, more = linker.compile("one", UNIT.replace("NAME", "one"), *flags)
        expected = f"null {null} 1 checked {checked} 1 series 2 samples 6\n"
        for order in itertools.permutations([one, two, main]):
            names = " ".join(os.path.basename(name)[:-2] for name in order)
            said = complaint or more
            if not said:
                program, said = linker.link(*order)
            if not said:
                status, output = run([program])
                if status or output != expected:
                    said = f"status {status}, printed {output!r}, expected {expected!r}"
            report.result(f"{compiler}, {what}, linked as {names}", said)


def mixed_off_switch(linker, report, compiler):
    objects, complaint = {}, ""
    for state, flags in (("on", []), ("off", ["-DSTREAMGAUGE_DISABLE"])):
        for name, text in (("gives", GIVES), ("takes", TAKES)):
            objects[name, state], more = linker.compile(f"{name}_{state}", text, *flags)
            complaint = complaint or more
    for giving, taking in itertools.product(["on", "off"], repeat=2):
        error = complaint or linker.link(objects["gives", giving], objects["takes", taking])[1]
        what = f"{compiler}, from a unit that is {giving} to one that is {taking}"
        if giving == taking:
            report.result(f"{what}: links", error)
            continue
        for kind in KINDS:
            missing = r"undefined reference to `takes\(streamgauge::(\w+::)*" + kind + r"\w*(<.*>)?\*\)"
            report.result(f"{what}: a {kind} does not link", "" if not complaint and re.search(missing, error) else
                          error or "linked, though the units differ")


def leaves_behind(linker, report, compiler, headers):
    """What a unit still asks the linker for, and what it runs before main."""
    def looks(name, text, wanted, *flags):
        """What was found, and the complaint when it is not as wanted: nothing found, or something. Compiled once."""
        if (name, flags) not in seen:
            target, complaint = linker.compile(name, text, *flags)
            seen[name, flags] = complaint, "" if complaint else run(["nm", "-C", target])[1]
        complaint, symbols = seen[name, flags]
        return complaint or wanted(symbols)

    def no_cuda(symbols):
        return "\n".join(CUDA.findall(symbols))

    def nothing_outside(symbols):
        return "\n".join(OUTSIDE.findall(symbols))

    def nothing_before_main(symbols):
        return "\n".join(line for line in symbols.splitlines() if "_GLOBAL__sub_I" in line)

    def some_cuda(symbols):
        return "" if no_cuda(symbols) else "none found"

    def some_before_main(symbols):
        return "" if nothing_before_main(symbols) else "none found"

    seen = {}
    every = "".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n"
    planted = "#include <string>\nstd::string planted = \"planted\";\nint main() {}\n"
    for level in ("-O0", "-O2"):
        name = f"{compiler} {level}"
        report.result(f"{name}: every header and an empty main asks for no CUDA", looks("every", every, no_cuda, level))
        report.result(f"{name}: a unit that measures does", looks("uses", USES, some_cuda, level))
        report.result(f"{name}: compiled out it does not, nor for a tool",
                      looks("off", USES, nothing_outside, level, "-DSTREAMGAUGE_DISABLE"))
        report.result(f"{name}: every header and an empty main runs nothing before main",
                      looks("every", every, nothing_before_main, level))
        report.result(f"{name}: a unit with such a global is seen", looks("planted", planted, some_before_main, level))


def main():
    settings = Settings(sys.argv[1])
    compiler = sys.argv[2]
    if not settings.compilers.get(compiler):
        skip(f"no {compiler} here")
    if not settings.cudart:
        skip("no CUDA toolkit here")
    report = Report()
    linker = Linker(settings, compiler, Sources(settings, f"links-{compiler}"))
    leaves_behind(linker, report, compiler, settings.together)
    mixed_units(linker, report, compiler)
    mixed_off_switch(linker, report, compiler)
    report.finish()


main()
