"""The library as users take it in: a subfolder, FetchContent, an installed package; with CUDA and without.

consumers.py SETTINGS
"""
import os
import re
import shutil
import sys

from compilers import Report, Settings, Sources, complaint_of, run


def main():
    settings = Settings(sys.argv[1])
    report = Report()
    scratch = Sources(settings, "consumers").folder
    consumer = os.path.join(settings.root, "tests", "build", "consumer")
    ninja = ["-G", settings.generator, f"-DCMAKE_CXX_COMPILER={settings.compilers['g++']}"]
    cuda = [f"-DCUDAToolkit_ROOT={settings.toolkit}"] if settings.toolkit else []
    hidden = ["-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"]
    prefix = os.path.join(scratch, "prefix")

    def configure(name, way, parts, arguments):
        build = os.path.join(scratch, name)
        source = [] if way == "find_package" else [f"-DSTREAMGAUGE_SOURCE={settings.root}"]
        command = [settings.cmake, "-S", consumer, "-B", build, f"-DWAY={way}", f"-DPARTS={';'.join(parts)}"]
        return build, command + source + ninja + arguments

    def consume(name, way, parts, arguments, after=lambda build: ""):
        """Configure, build, run; every program must print the version."""
        build, command = configure(name, way, parts, arguments)
        complaint = complaint_of(command) or complaint_of([settings.cmake, "--build", build])
        for part in parts:
            if not complaint:
                status, output = run([os.path.join(build, f"{part}_consumer")])
                if status or output.strip() != settings.version:
                    complaint = f"{part}_consumer: status {status}, printed {output!r}, expected {settings.version}"
        report.result(name, complaint or after(build))

    def refuse(name, way, parts, arguments, words):
        """Configuring must fail and say these words."""
        _, command = configure(name, way, parts, arguments)
        status, output = run(command)
        flat = " ".join(output.split())
        report.result(name, "" if status and words in flat else f"status {status}, expected {words!r} in:\n{output}")

    def nothing_of_ours(build):
        """As a part of another project we add neither tests nor examples nor install rules."""
        extra = [name for name in ("tests", "examples", "streamgauge-config.cmake")
                 if os.path.exists(os.path.join(build, "streamgauge", name))]
        return f"made for the parent project: {extra}" if extra else ""

    def no_cuda(build):
        """Neither CUDA's folders nor its libraries are on any command line."""
        with open(os.path.join(build, "build.ninja" if settings.generator == "Ninja" else "CMakeCache.txt")) as file:
            found = [line for line in file if re.search(r"cudart|(-I|-isystem) ?\S*cuda", line)]
        return "".join(found)

    own = os.path.join(scratch, "own")
    complaint = complaint_of([settings.cmake, "-S", settings.root, "-B", own, "-DSTREAMGAUGE_BUILD_TESTS=OFF",
                              "-DSTREAMGAUGE_BUILD_EXAMPLES=OFF", f"-DCMAKE_INSTALL_PREFIX={prefix}"] + ninja + cuda)
    complaint = complaint or complaint_of([settings.cmake, "--install", own])
    for header in settings.headers:
        if not complaint and not os.path.exists(os.path.join(prefix, "include", header)):
            complaint = f"{header} was not installed"
    report.result("installs every header of the list", complaint)
    installed = [f"-DCMAKE_PREFIX_PATH={prefix}"]
    exact = installed + [f"-DSTREAMGAUGE_VERSION={settings.version}"]

    if settings.toolkit:
        both = ["streamgauge", "analysis"]
        consume("add_subdirectory", "add_subdirectory", both, cuda, nothing_of_ours)
        consume("FetchContent", "fetch_content", both, cuda)
        consume("find_package", "find_package", both, cuda + exact)
        consume("a parent that exports a target of its own", "add_subdirectory", both,
                cuda + ["-DSTREAMGAUGE_INSTALL=ON", "-DEXPORTED=ON"])
    else:
        print("        no CUDA toolkit here: the consumers of the whole library are not tried")
    consume("add_subdirectory without CUDA", "add_subdirectory", ["analysis"], hidden, no_cuda)
    consume("find_package without CUDA", "find_package", ["analysis"], hidden + exact, no_cuda)
    refuse("says that CUDA is missing", "add_subdirectory", ["streamgauge"], hidden, "CUDA::cudart")
    refuse("says that CUDA is missing, installed", "find_package", ["streamgauge"], hidden + exact, "CUDAToolkit")
    refuse("refuses another version", "find_package", ["analysis"], hidden + installed + ["-DSTREAMGAUGE_VERSION=99.0"],
           "99.0")
    refuse("refuses a component that there is not", "find_package", ["bogus"], hidden + exact, "no component bogus")
    shutil.rmtree(scratch)
    report.finish()


main()
