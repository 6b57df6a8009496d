"""The headers compile against other versions of CUDA than the one that is installed.

toolkits.py SETTINGS VERSION. The version's own headers come as wheels into the build folder and stay there.
"""
import os
import shutil
import sys

from compilers import WARNINGS, Report, Settings, Sources, complaint_of, run, skip, standards


def wheels_of(version):
    if version.startswith("12."):
        return [f"nvidia-cuda-runtime-cu12=={version}.*", f"nvidia-nvtx-cu12=={version}.*",
                # One small header, the same in all of 12; the oldest versions have no wheel of it.
                "nvidia-cuda-profiler-api-cu12==12.*"]
    return [f"nvidia-{part}=={version}.*" for part in ("cuda-runtime", "cuda-crt", "nvtx", "cuda-profiler-api")]


def include_folders(settings, version):
    """The folders with the headers of that version: this machine's toolkit, or wheels."""
    if settings.cuda_version.startswith(version + ".") or settings.cuda_version == version:
        return settings.cuda_include
    place = os.path.join(settings.wheels, f"cuda-headers-{version}")
    if not os.path.isdir(place):
        part = place + ".part"
        shutil.rmtree(part, ignore_errors=True)
        status, output = run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:",
                              "--retries", "1", "--timeout", "20", "--target", part] + wheels_of(version))
        if status != 0:
            shutil.rmtree(part, ignore_errors=True)
            last = (output.strip().splitlines() or ["pip said nothing"])[-1]
            skip(f"no headers of CUDA {version}: {last}")
        os.rename(part, place)
    return sorted(folder for folder, _, _ in os.walk(place) if os.path.basename(folder) == "include")


def main():
    settings = Settings(sys.argv[1])
    version = sys.argv[2]
    folders = include_folders(settings, version)
    report = Report()
    sources = Sources(settings, f"toolkit-{version}")
    major, minor = version.split(".")
    number = f'#include <cuda_runtime_api.h>\nstatic_assert(CUDART_VERSION / 10 == {int(major) * 100 + int(minor)}, "");\n'
    # What analyses and reports knows no CUDA.
    near_cuda = [header for header in settings.together if "/analyze/" not in header and "/report/" not in header]
    units = [
        ("all in order", "".join(f"#include <{header}>\n" for header in near_cuda), []),
        ("all in reverse, without exceptions and RTTI", "".join(f"#include <{header}>\n" for header in near_cuda[::-1]),
         ["-fno-exceptions", "-fno-rtti"]),
        ("with STREAMGAUGE_DISABLE", f"#include <{settings.headers[-1]}>\n", ["-DSTREAMGAUGE_DISABLE"]),
        # A newer NVTX further back on the path has headers that the version's own has not: they must not be mixed.
        ("before the headers that are installed", "".join(f"#include <{header}>\n" for header in near_cuda),
         [part for folder in settings.cuda_include for part in ("-idirafter", folder)]),
    ]
    for compiler in ("g++", "clang++"):
        path = settings.compilers.get(compiler)
        if not path:
            print(f"        {compiler}: not here, not tried")
            continue
        known = standards(path)
        for what, text, flags in units:
            source = sources.write(what.replace(" ", "_").replace("/", "_") + ".cpp", number + text + "int main() {}\n")
            for standard in (known[0], known[-1]) if what == "all in order" else known[:1]:
                command = [path, f"-std={standard}", "-fsyntax-only"] + WARNINGS + flags + [
                    "-I", settings.include] + settings.isystem(folders) + [source]
                report.result(f"CUDA {version}, {compiler} {standard}: {what}", complaint_of(command))
    report.finish()


main()
