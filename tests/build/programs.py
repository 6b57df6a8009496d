"""The programs that read recordings: what they say, and their exit statuses.

programs.py SETTINGS
"""
import json
import os
import sys

from compilers import Report, Settings, Sources, complaint_of, run, skip


def main():
    settings = Settings(sys.argv[1])
    if not settings.nlohmann:
        skip("there is no nlohmann_json here, and the programs read recordings through it")
    report = Report()
    folder = Sources(settings, "programs").folder

    def build(source):
        name = os.path.splitext(os.path.basename(source))[0]
        built = os.path.join(settings.examples, name)
        if os.path.exists(built):
            return built
        program = os.path.join(folder, name)
        complaint = complaint_of([settings.compilers["g++"], "-std=c++17", "-I", settings.include,
                                  "-idirafter", settings.nlohmann, os.path.join(settings.root, source), "-o", program])
        report.result(f"{source} builds", complaint)
        return program

    made = build("tests/build/recordings.cpp")
    compare = build("examples/compare.cpp")
    show = build("examples/show.cpp")
    tuning_log = build("examples/tuning_log.cpp")
    report.result("recordings are written", complaint_of([made, folder]))

    def files(name):
        return [os.path.join(folder, f"{name}-{i}.json") for i in range(5)]

    def check(name, command, expected, *words):
        status, output = run(command)
        missing = [word for word in words if word not in output]
        complaint = "" if status == expected and not missing else f"status {status}, expected {expected}; without {missing}:\n{output}"
        report.result(name, complaint)
        return output

    def against(name):
        return [compare] + files("before") + ["--"] + files(name)

    check("the same ends with 0", against("same"), 0, "same or faster")
    check("faster ends with 0", [compare] + files("slower") + ["--"] + files("before"), 0, "faster", "same or faster")
    check("slower ends with 1", against("slower"), 1, "1.03", "slower")
    check("a threshold above the difference ends with 0", against("slower") + ["--threshold", "5"], 0, "threshold 5.0 %")
    check("what cannot be told ends with 2", against("wild"), 2, "inconclusive")
    check("another device ends with 3", [compare, files("before")[0], os.path.join(folder, "elsewhere.json")], 3,
          "another device", "not comparable")
    check("one run a side says so", [compare, files("before")[0], files("same")[0]], 0, "within one run only")
    check("an observable that nobody has ends with 3", against("same") + ["--what", "submit"], 3, "not comparable")
    markdown = check("Markdown for a pull request", against("slower") + ["--markdown"], 1, "**slower**", "| --:|".replace(" ", ""))
    report.result("a hostile name is no markup in it", "" if "<b>" not in markdown and "\\|" in markdown else markdown)
    broken = os.path.join(folder, "broken.json")
    with open(broken, "w") as file:
        file.write('{"schema": "streamgauge.recording", "version": 99}')
    check("a file of another version ends with 3 and its name", [compare, broken, broken], 3, "broken.json", "version")
    check("a file that is not there ends with 3", [compare, "nowhere.json", broken], 3, "nowhere.json", "no such file")
    for wrong in (["--threshold", "x", "a", "b"], ["--what", "y", "a", "b"], ["--nothing"], [], ["a"], ["a", "--", "b", "--", "c"]):
        check(f"usage: {' '.join(wrong)}", [compare] + wrong, 3, "exit status")

    check("one recording is shown as a table", [show, files("before")[0]], 0, "step <b>&|", "device interval")
    check("ranks are shown side by side", [show] + files("wild"), 0, "over the ranks", "wild-4.json", "60.0 %")
    page = os.path.join(folder, "page.html")
    check("a page is written", [show, "--html", page, files("before")[0]], 0, "written: ")
    with open(page) as file:
        report.result("it is a page", "" if file.read().lower().startswith("<!doctype html>") else "no page")
    check("a page of two compares them", [show, "--html", page, files("before")[0], files("slower")[0]], 0, "written: ")
    trace = os.path.join(folder, "trace.json")
    check("a trace is written", [show, "--trace", trace, files("before")[0]], 0, "written: ")
    with open(trace) as file:
        report.result("it is a trace", "" if "traceEvents" in json.load(file) else "no trace")
    check("what cannot be written is said", [show, "--html", "/nowhere/page.html", files("before")[0]], 1, "no such folder")
    check("a trace of two is refused", [show, "--trace", trace] + files("before")[:2], 1, "of one recording")
    check("an option is no name of a file", [show, "--html", "--trace", files("before")[0]], 1, "--html", "wants a value")
    check("show without a file tells its usage", [show], 1, "show RUN.json")
    for program in (compare, show, tuning_log):
        check(f"{os.path.basename(program)} --help tells its usage", [program, "--help"], 0, os.path.basename(program) + " ")
    twice = files("before")[:1] * 3
    check("the same run three times is not three runs", [compare] + twice + ["--"] + files("same")[:3], 3, "stands twice")

    log = os.path.join(folder, "log.jsonl")
    check("a try is appended and shown", [tuning_log, log, "loop unrolled, \"twice\""] + files("before") + ["--"] + files("slower"), 0,
          "loop unrolled", "+3.0 %", "slower", "several runs a side")
    check("another one stands below it", [tuning_log, log, "put back", files("slower")[0], files("before")[0]], 0,
          "loop unrolled", "put back", "faster", "within one run only")
    with open(log) as file:
        lines = [json.loads(line) for line in file]
    complaint = "" if [line["change"] for line in lines] == ["loop unrolled, \"twice\"", "put back"] else str(lines)
    report.result("each is a line of JSON", complaint)
    with open(log, "a") as file:
        file.write("no JSON\n")
    check("a line that is none is named, and the others are shown", [tuning_log, log], 1, "line 3", "put back")
    with open(log, "a") as file:
        file.write('{"schema": "streamgauge.try", "versi')
    check("a line that was torn takes no other one with it", [tuning_log, log, "after the crash", files("slower")[0],
          files("before")[0]], 1, "line 4", "no JSON", "after the crash")
    with open(log, "a") as file:
        odd = {"time": "now", "change": "c", "entries": [{"series": "s", "what": "w", "before_ns": "1"}]}
        file.write(json.dumps(odd) + "\n")
    check("a line of which a part is wrong shifts no other one", [tuning_log, log], 1, "line 6", "after the crash")
    check("a folder is no log", [tuning_log, folder], 1, "is it a folder?")
    for program, status in (([show, files("before")[0]], 1), (against("same"), 3), ([tuning_log, log], 1)):
        check(f"{os.path.basename(program[0])} says where its output is lost", ["sh", "-c", '"$@" > /dev/full', "sh"] + program,
              status, "standard output could not be written")
    check("a log that is not there is said", [tuning_log, os.path.join(folder, "none.jsonl")], 1, "cannot read")
    report.finish()


main()
