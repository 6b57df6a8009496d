"""What including the library costs a compiler, as a ratio to what a program with CUDA, NVTX and strings includes anyway.

compile_time.py SETTINGS g++|clang++
"""
import os
import resource
import subprocess
import sys

from compilers import Report, Settings, Sources, skip

BASELINE = ["cuda_runtime_api.h", "nvtx3/nvToolsExt.h", "chrono", "string", "vector"]
# Ratios of user time to the baseline's, at -O2. The door holds the summary with its intervals and steady states, which a
# daily user reads; clang, whose baseline is a quarter of a second, spends as long again on parsing them. In instructions,
# which no machine changes, clang's ratio is 2.42; in seconds like trees gave 2.4 to 2.9 on three machines and g++'s 1.5 to
# 1.65, so the limits lie just above what the machines make of it.
LIMITS = {
    "g++": {"streamgauge/streamgauge.hpp": 1.8, "streamgauge/mark/range.hpp": 1.15},
    "clang++": {"streamgauge/streamgauge.hpp": 3.0, "streamgauge/mark/range.hpp": 1.15},
}


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def least(commands, rounds):
    """Least user time of each command, one of each in turn: what else the machine does only ever adds."""
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(user_seconds(command))
    return {name: min(seconds) for name, seconds in times.items()}


def main():
    settings = Settings(sys.argv[1])
    compiler = sys.argv[2]
    path = settings.compilers.get(compiler) or skip(f"no {compiler} here")
    if not settings.cuda_include:
        skip("no CUDA toolkit here")
    sources = Sources(settings, f"compile-time-{compiler}")
    units = {"baseline": BASELINE, **{header: [header] for header in LIMITS[compiler]}}
    commands = {}
    for name, headers in units.items():
        text = "".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n"
        source = sources.write(os.path.basename(name) + ".cpp", text)
        commands[name] = [path, "-std=c++17", "-O2", "-I", settings.include] + settings.isystem() + [
            "-c", source, "-o", os.devnull]

    report = Report()
    rounds = 5
    taken = least(commands, rounds)
    if any(taken[name] > limit * taken["baseline"] for name, limit in LIMITS[compiler].items()):
        rounds = 21  # a busy machine, perhaps: look longer before saying no
        taken = least(commands, rounds)
    print(f"{compiler} -O2, least user time of {rounds} interleaved runs")
    print(f"        baseline ({', '.join(BASELINE)}): {taken['baseline'] * 1000:.0f} ms")
    for name, limit in LIMITS[compiler].items():
        ratio = taken[name] / taken["baseline"]
        report.result(f"{name}: {taken[name] * 1000:.0f} ms, {ratio:.2f} times the baseline (at most {limit})",
                      "" if ratio <= limit else "over its limit")
    report.finish()


main()
