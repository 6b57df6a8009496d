"""The version is written once, and every place that shows it shows the same.

version.py SETTINGS
"""
import os
import re
import sys

from compilers import Report, Settings, Sources, complaint_of, run


def main():
    settings = Settings(sys.argv[1])
    report = Report()
    sources = Sources(settings, "version")

    places = []
    for top in ("CMakeLists.txt", "include", "examples"):  # tests have example values of their own
        path = os.path.join(settings.root, top)
        walked = [(os.path.dirname(path), [], [top])] if os.path.isfile(path) else os.walk(path)
        for folder, _, names in walked:
            places += [os.path.join(folder, name) for name in names if not name.endswith(".pyc")]
    written = []
    for path in places:
        with open(path, errors="replace") as file:
            for number, line in enumerate(file, 1):
                if re.search(r"(?<![\d.])" + re.escape(settings.version) + r"(?![\d.])", line):
                    written.append(f"{os.path.relpath(path, settings.root)}:{number}: {line.strip()}")
    report.result("written once", "" if len(written) == 1 else "\n".join(written) or "written nowhere")

    major, minor, patch = settings.version.split(".")
    source = sources.write("version.cpp", "#include <streamgauge/version.hpp>\n#include <cstdio>\nint main() {\n"
                           f"  static_assert(streamgauge::version_major == {major});\n"
                           f"  static_assert(streamgauge::version_minor == {minor});\n"
                           f"  static_assert(streamgauge::version_patch == {patch});\n"
                           "  std::puts(streamgauge::version_string);\n}\n")
    program = os.path.join(sources.folder, "version")
    complaint = complaint_of([settings.compilers["g++"], "-std=c++17", "-I", settings.include, source, "-o", program])
    if not complaint:
        _, output = run([program])
        complaint = "" if output == settings.version + "\n" else f"printed {output!r}"
    report.result("CMake's, the string and the three numbers agree", complaint)

    # The numbers are read from the string, so a string with other digits must give others.
    other = sources.write("streamgauge/version.hpp", open(os.path.join(settings.include, "streamgauge/version.hpp"))
                          .read().replace(f'"{settings.version}"', '"12.345.6"'))
    source = sources.write("other.cpp", "#include <streamgauge/version.hpp>\nint main() {\n"
                           "  static_assert(streamgauge::version_major == 12);\n"
                           "  static_assert(streamgauge::version_minor == 345);\n"
                           "  static_assert(streamgauge::version_patch == 6);\n}\n")
    report.result("numbers of several digits are read right", complaint_of(
        [settings.compilers["g++"], "-std=c++17", "-I", os.path.dirname(os.path.dirname(other)), "-fsyntax-only", source]))
    report.finish()


main()
