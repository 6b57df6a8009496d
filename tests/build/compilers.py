"""The compilers of this machine, how they are called, and how a check reports."""
import json
import os
import subprocess
import sys
import tempfile

WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wshadow -Wundef -Werror".split()
# The code that nvcc itself generates breaks these two.
NVCC_WARNINGS = [flag for flag in WARNINGS if flag not in ("-Wpedantic", "-Wold-style-cast")]
SKIPPED = 77


class Settings:
    """What CMake knows, read from the file it wrote."""

    def __init__(self, path):
        with open(path) as file:
            self.__dict__.update(json.load(file))
        self.include = os.path.join(self.root, "include")
        self.headers = [header[len("include/"):] for header in self.headers]
        # What reads through nlohmann's parser compiles where that is.
        self.compiled = [header for header in self.headers if self.nlohmann or not self.reads_by_nlohmann(header)]
        # Stand-ins are included by the header that they stand in for, never beside it.
        self.together = [header for header in self.compiled if not header.endswith("/disabled.hpp")]
        self.cuda_include = [folder for folder in self.cuda_include if folder]

    def reads_by_nlohmann(self, header):
        with open(os.path.join(self.include, header)) as file:
            return "#include <nlohmann/" in file.read()

    def isystem(self, folders=None):
        others = [self.nlohmann] if self.nlohmann not in ("", "/usr/include") else []
        folders = (self.cuda_include if folders is None else folders) + others
        return [part for folder in folders for part in ("-isystem", folder)]


class Report:
    """Prints every result by name; `finish` gives the exit status. A report without a result has failed."""

    def __init__(self):
        self.passed = self.failed = 0

    def result(self, name, complaint):
        """`complaint` is what is wrong, empty when nothing is."""
        if complaint:
            self.failed += 1
            print(f"FAILED  {name}\n{complaint.rstrip()}")
        else:
            self.passed += 1
            print(f"ok      {name}")
        sys.stdout.flush()

    def finish(self):
        print(f"{self.passed} ok, {self.failed} failed")
        sys.exit(0 if self.passed and not self.failed else 1)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(command, **options):
    """Exit status and everything printed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          universal_newlines=True, **options)
    return done.returncode, done.stdout


def complaint_of(command, **options):
    """Nothing when the command succeeds, else the command and what it said (its first lines)."""
    status, output = run(command, **options)
    if status == 0:
        return ""
    return " ".join(command) + "\n" + "\n".join(output.splitlines()[:30])


def standards(compiler):
    """The flags of C++17, 20 and 23 that this compiler knows."""
    known = []
    for choices in (["c++17"], ["c++20", "c++2a"], ["c++23", "c++2b"]):
        for choice in choices:
            status, _ = run([compiler, f"-std={choice}", "-fsyntax-only", "-x", "c++", os.devnull])
            if status == 0:
                known.append(choice)
                break
    return known


class Sources:
    """A scratch folder of translation units."""

    def __init__(self, settings, name):
        os.makedirs(settings.work, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix=name + "-", dir=settings.work)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path
