"""Traces as viewers read them: the Trace Event Format, strictly.

traces.py SETTINGS. It compiles traces.cpp, which writes traces of made-up recordings, and reads each: types and keys by the
letter of the event, numbers by their text, nesting on each track in whole nanoseconds and in doubles, arrows and the slices
that they bind to, names of processes and tracks. First each kind of violation is planted in a good trace and must be seen.
Field cases: case-88, case-89, case-90, case-93, case-94, case-97.
"""
import json
import os
import re
import subprocess
import sys

from compilers import WARNINGS, Report, Settings, Sources, complaint_of, skip

NUMBER = re.compile(r"^-?(0|[1-9][0-9]*)\.[0-9]{3}$")
# The colours that the format has names for, of those that are in use here.
COLORS = set("""thread_state_running thread_state_runnable thread_state_iowait thread_state_sleeping rail_response
rail_animation rail_idle rail_load good yellow olive generic_work cq_build_running grey""".split())
KEYS = {  # by letter: what has to be there, and nothing else may
    "M": {"ph", "pid", "tid", "name", "args"},
    "X": {"ph", "pid", "tid", "ts", "dur", "name", "cat", "cname", "args"},
    "s": {"ph", "pid", "tid", "ts", "id", "name", "cat"},
    "f": {"ph", "pid", "tid", "ts", "id", "name", "cat", "bp"},
    "C": {"ph", "pid", "tid", "ts", "name", "args"},
}


class Decimal3:
    """A number as it was written, with three decimals: in thousandths, exact."""

    def __init__(self, text):
        if not NUMBER.match(text):
            raise ValueError(f"{text} has not exactly three decimals")
        self.value = int(text.replace(".", ""))
        self.read = float(text)


def pairs(members):
    found = {}
    for key, value in members:
        if key in found:
            raise ValueError(f"the key {key!r} twice")
        found[key] = value
    return found


def refuse(word):
    raise ValueError(f"{word} is no number of JSON's")


def is_count(value, least=0):
    return type(value) is int and value >= least


class Slice:
    def __init__(self, event):
        self.begin, self.length = event["ts"], event["dur"]
        self.event = event
        self.end = self.begin.value + self.length.value
        self.end_read = self.begin.read + self.length.read


def complaints(text, expected=None):
    """What is wrong with a trace. `expected`: counts that the recording itself tells."""
    try:
        trace = json.loads(text, parse_float=Decimal3, parse_constant=refuse, object_pairs_hook=pairs)
    except ValueError as error:
        return [f"no JSON: {error}"]
    found = []
    if "\\\\" in text:
        found.append("a backslash is written as two, which Perfetto does not read before a closing quote")
    if not isinstance(trace, dict) or set(trace) != {"displayTimeUnit", "otherData", "traceEvents"}:
        return ["other members than displayTimeUnit, otherData and traceEvents"]
    if trace["displayTimeUnit"] not in ("ms", "ns"):
        found.append("displayTimeUnit is neither ms nor ns")
    if not isinstance(trace["traceEvents"], list) or not isinstance(trace["otherData"], dict):
        return found + ["traceEvents is no list, or otherData no object"]
    events = trace["traceEvents"]
    for at, event in enumerate(events):
        wrong = wrong_event(event)
        if wrong:
            return found + [f"event {at}: {wrong}: {event}"]
    found += wrong_names(events)
    by_track = {}
    for event in events:
        if event["ph"] in "Xsf":
            by_track.setdefault((event["pid"], event["tid"]), []).append(event)
    bound = {}
    for track, of_track in by_track.items():
        found += wrong_track(track, of_track, bound)
    found += wrong_arrows(events, bound)
    times = [event["ts"].value for event in events if "ts" in event]
    if times and min(times) != 0:
        found.append(f"the earliest event is at {min(times)} ns, not at 0")
    found += wrong_metadata(trace["otherData"], events)
    if expected:
        found += wrong_counts(trace["otherData"], events, expected)
    return found


def wrong_event(event):
    if not isinstance(event, dict) or event.get("ph") not in KEYS:
        return "no letter that is known here"
    if set(event) != KEYS[event["ph"]]:
        return "keys are missing or too many"
    if not is_count(event["pid"], 1) or not is_count(event["tid"]):
        return "pid or tid is no whole number"
    for key in ("name", "cat", "cname"):
        if key in event and not isinstance(event[key], str):
            return f"{key} is no text"
    for key in ("ts", "dur"):
        if key in event and (not isinstance(event[key], Decimal3) or event[key].value < 0):
            return f"{key} is no time of three decimals from 0 on"
    if "args" in event and not isinstance(event["args"], dict):
        return "args is no object"
    if event["ph"] in "sf" and (not is_count(event["id"], 1) or event["cat"] != "flow"):
        return "an arrow without a number or its category"
    if event["ph"] == "f" and event["bp"] != "e":
        return "an arrow that ends at the next slice instead of the one around it"
    if event["ph"] == "C" and (len(event["args"]) != 1 or not all(isinstance(v, Decimal3) and v.value >= 0
                                                                   for v in event["args"].values())):
        return "a counter without one number of three decimals"
    if event["ph"] == "X" and event["cname"] not in COLORS:
        return "a colour that the format does not name"
    if event["ph"] == "X" and not is_count(event["args"].get("execution"), 1):
        return "a slice without its execution"
    if event["ph"] == "X" and ("warmup" in event["cat"].split(",")) != (event["args"].get("warmup") is True):
        return "warm-up in category and arguments differ"
    return ""


def wrong_names(events):
    found = []
    seen = {"process_name": {}, "process_sort_index": {}, "thread_name": {}, "thread_sort_index": {}}
    for event in events:
        if event["ph"] != "M":
            continue
        if event["name"] not in seen:
            found.append(f"metadata {event['name']!r} is none of the format's")
            continue
        what = event["name"]
        value = event["args"].get("name" if what.endswith("_name") else "sort_index")
        if len(event["args"]) != 1 or not (isinstance(value, str) if what.endswith("_name") else is_count(value)):
            found.append(f"{what} of {event['pid']}, {event['tid']} names nothing")
        key = event["pid"] if what.startswith("process") else (event["pid"], event["tid"])
        if key in seen[what]:
            found.append(f"{what} of {key} twice")
        seen[what][key] = value
    tids = [tid for _, tid in seen["thread_name"]]
    if len(set(tids)) != len(tids) or set(tids) & set(seen["process_name"]):
        found.append("a number of a track is another track's, or a process's")
    for event in events:
        if event["pid"] not in seen["process_name"]:
            found.append(f"process {event['pid']} has no name")
        if event["ph"] in "Xsf" and (event["pid"], event["tid"]) not in seen["thread_name"]:
            found.append(f"track {event['pid']}, {event['tid']} has no name")
    return found


def wrong_track(track, events, bound):
    """Slices of a track nest or follow, in order. Notes in `bound` which slice each arrow binds to."""
    found = []
    open_ = []
    last = 0
    previous = None
    for event in events:
        if event["ts"].value < last:
            found.append(f"track {track}: not in order at {event}")
        last = event["ts"].value
        while open_ and open_[-1].end <= event["ts"].value:
            if open_[-1].end_read > event["ts"].read:
                found.append(f"track {track}: in doubles {open_[-1].event} ends behind what follows at {event['ts'].value} ns")
            open_.pop()
        if event["ph"] == "X":
            one = Slice(event)
            if open_ and one.end > open_[-1].end:
                found.append(f"track {track}: {event} overlaps {open_[-1].event}")
            if open_ and one.end_read > open_[-1].end_read:
                found.append(f"track {track}: in doubles {event} ends behind {open_[-1].event}, which it lies in")
            open_.append(one)
        else:
            around = open_[-1].event if open_ else None
            if around is None or around is not previous or around["ts"].value != event["ts"].value:
                found.append(f"track {track}: the arrow {event} binds to no slice, or not to the one before it")
            else:
                bound[(event["ph"], event["id"])] = around
        previous = event
    return found


def wrong_arrows(events, bound):
    found = []
    ends = {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], []).append(event)
    for number, pair in ends.items():
        if sorted(event["ph"] for event in pair) != ["f", "s"]:
            found.append(f"arrow {number} has not one begin and one end")
            continue
        begin, end = sorted(pair, key=lambda event: event["ph"], reverse=True)
        if begin["ts"].value > end["ts"].value:
            found.append(f"arrow {number} ends before it begins: device work before its submission")
        if begin["pid"] != 1 or end["pid"] == 1:
            found.append(f"arrow {number} does not go from the host to a device")
        for letter in "sf":
            slice_ = bound.get((letter, number))
            if slice_ is not None and slice_["args"]["execution"] != number:
                found.append(f"arrow {number} binds to execution {slice_['args']['execution']}")
    sides = {}
    for event in events:
        if event["ph"] == "X" and event["dur"].value > 0 and not event["cat"].startswith("wait"):
            sides.setdefault(event["args"]["execution"], set()).add(event["pid"] == 1)
    for number, seen in sides.items():
        if (len(seen) == 2) != (number in ends):
            found.append(f"execution {number} is drawn on both sides without an arrow, or on one with an arrow")
    return found


def wrong_metadata(about, events):
    found = []
    alignment = about.get("alignment")
    if alignment not in ("none", "approximate", "bounded"):
        found.append(f"alignment is {alignment!r}")
    for key in ("alignment_bound_largest_us", "alignment_bound_median_us"):
        if (alignment != "none") != isinstance(about.get(key), Decimal3):
            found.append(f"{key} is there without an alignment, or missing with one")
    if alignment in ("approximate", "bounded") and not found:
        if about["alignment_bound_median_us"].value > about["alignment_bound_largest_us"].value:
            found.append("the median bound is above the largest")
    if alignment != "bounded" and not about.get("alignment_why"):
        found.append("an alignment that is not bounded says not why")
    if not isinstance(about.get("base_us"), Decimal3):
        found.append("no base")
    if alignment == "none" and any(event["ph"] == "X" and event["pid"] != 1 for event in events):
        found.append("device slices without an alignment")
    return found


def wrong_counts(about, events, expected):
    drawn = [event["cat"].split(",") for event in events if event["ph"] == "X"]
    counts = {what: sum(what in cats for cats in drawn) for what in ("host", "wait", "device", "warmup")}
    counts["left_out"] = sum(each["count"] for each in about["left_out"])
    return [f"{what}: {counts[what]}, and the recording says {expected[what]}" for what in expected
            if counts[what] != expected[what]]


def edited(text, change):
    trace = json.loads(text, parse_float=lambda number: "@" + number)
    change(trace)
    return re.sub(r'"@([^"]*)"', r"\1", json.dumps(trace))


def planted(text):
    """Each kind of violation, planted in a good trace."""
    def events(trace, letter):
        return [event for event in trace["traceEvents"] if event["ph"] == letter]

    def device_slice(trace):
        return next(e for e in events(trace, "X") if e["cat"] == "device" and e["dur"] != "@0.000")

    def change(letter, key, value):
        return edited(text, lambda trace: events(trace, letter)[-1].__setitem__(key, value))

    def without(letter, key):
        return edited(text, lambda trace: events(trace, letter)[-1].pop(key))

    def twice(trace):
        first = device_slice(trace)
        at = trace["traceEvents"].index(first)
        half = f"@{float(first['ts'][1:]) + float(first['dur'][1:]) / 2:.3f}"
        trace["traceEvents"].insert(at + 2, dict(first, ts=half))

    def before(trace):
        arrow = events(trace, "f")[-1]
        at = trace["traceEvents"].index(arrow)
        arrow["ts"] = trace["traceEvents"][at - 1]["ts"] = "@0.000"

    def swap(trace):
        first, second = events(trace, "s")[:2]
        first["id"], second["id"] = second["id"], first["id"]

    def drop(letter):
        def dropping(trace):
            trace["traceEvents"].remove(events(trace, letter)[-1])
        return dropping

    def unnamed(trace):
        trace["traceEvents"].remove(next(e for e in events(trace, "M") if e["name"] == "thread_name"))

    def shifted(trace):
        for event in trace["traceEvents"]:
            if "ts" in event:
                event["ts"] = f"@{float(event['ts'][1:]) + 1:.3f}"

    def doubles(trace):
        trace["traceEvents"] += [
            {"ph": "M", "pid": 1, "tid": 900, "name": "thread_name", "args": {"name": "t"}},
            dict(events(trace, "X")[0], tid=900, ts="@0.100", dur="@0.200", cat="wait", args={"execution": 1}),
            dict(events(trace, "X")[0], tid=900, ts="@0.300", dur="@0.200", cat="wait", args={"execution": 1})]

    def inner_doubles(trace):
        doubles(trace)
        trace["traceEvents"][-1].update(ts="@0.000", dur="@0.300")
        trace["traceEvents"][-2:] = trace["traceEvents"][:-3:-1]

    return [
        ("a missing bracket", text[:-3]),
        ("a key that is there twice", text.replace('"ph":"X",', '"ph":"X","ph":"X",', 1)),
        ("NaN", re.sub(r'"dur":[0-9.]+', '"dur":NaN', text, count=1)),
        ("an exponent", re.sub(r'"ts":[0-9.]+', '"ts":1e3', text, count=1)),
        ("two decimals", re.sub(r'"ts":([0-9]+\.[0-9]{2})[0-9]', r'"ts":\1', text, count=1)),
        ("a time that is text", re.sub(r'"ts":([0-9.]+)', r'"ts":"\1"', text, count=1)),
        ("a whole number for a time", re.sub(r'"dur":[0-9.]+', '"dur":1', text, count=1)),
        ("a time below 0", re.sub(r'"dur":[0-9.]+', '"dur":-1.000', text, count=1)),
        ("an unknown letter", text.replace('"ph":"X"', '"ph":"Z"', 1)),
        ("a process that is text", change("X", "pid", "1")),
        ("a colour of no name", change("X", "cname", "pink")),
        ("a slice without length", without("X", "dur")),
        ("a slice without arguments", without("X", "args")),
        ("a key too many", change("X", "extra", 1)),
        ("warm-up in the category alone", edited(text, lambda t: device_slice(t).__setitem__("cat", "device,warmup"))),
        ("a slice that overlaps", edited(text, twice)),
        ("an end behind what follows, in doubles", edited(text, doubles)),
        ("an end behind the slice around it, in doubles", edited(text, inner_doubles)),
        ("device work before its submission", edited(text, before)),
        ("an arrow of another execution", edited(text, swap)),
        ("an arrow without its end", edited(text, drop("f"))),
        ("an arrow without its begin", edited(text, drop("s"))),
        ("an arrow to the next slice", change("f", "bp", "n")),
        ("an arrow without a number", without("s", "id")),
        ("an arrow beside its slice", change("f", "ts", "@999999999.000")),
        ("a counter of text", change("C", "args", {"%": "much"})),
        ("a track without a name", edited(text, unnamed)),
        ("metadata of no name", change("M", "name", "colour")),
        ("two backslashes", text.replace('"name":"', '"name":"\\\\', 1)),
        ("a name twice", edited(text, lambda t: t["traceEvents"].append(events(t, "M")[0]))),
        ("a base that is not 0", edited(text, shifted)),
        ("no alignment", edited(text, lambda t: t["otherData"].pop("alignment"))),
        ("no bound", edited(text, lambda t: t["otherData"].pop("alignment_bound_largest_us"))),
        ("an alignment without a reason", edited(text, lambda t: t["otherData"].update(alignment="approximate"))),
        ("device slices without an alignment", edited(text, lambda t: t["otherData"].update(
            alignment="none", alignment_why="so") or [t["otherData"].pop(key) for key in (
                "alignment_bound_largest_us", "alignment_bound_median_us")])),
    ]


def written_traces(settings, report):
    """Name, counts and text of every trace that traces.cpp writes."""
    compiler = settings.compilers["g++"]
    if not compiler:
        skip("no g++ here")
    sources = Sources(settings, "trace")
    program = os.path.join(sources.folder, "traces")
    here = os.path.dirname(os.path.abspath(__file__))
    complaint = complaint_of([compiler, "-std=c++17", "-O1"] + WARNINGS + [
        "-I", settings.include, os.path.join(here, "traces.cpp"), "-o", program])
    report.result("the program that writes traces compiles", complaint)
    if complaint:
        report.finish()
    written = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", errors="strict")
    traces = []
    for part in written.split("### ")[1:]:
        head, text = part.split("\n", 1)
        name, number, *counts = head.split(" ")
        traces.append((f"{name} {number}", {what: int(count) for what, count in (each.split("=") for each in counts)}, text))
    return traces


def main():
    report = Report()
    traces = written_traces(Settings(sys.argv[1]), report)
    good = traces[0][2]
    report.result("the first trace is good", "\n".join(complaints(good, traces[0][1])[:5]))
    for what, text in planted(good):
        report.result(f"sees {what}", "" if complaints(text) else "planted and not seen")
    report.result("sees a count that differs", "" if complaints(good, {"host": 0}) else "planted and not seen")

    bad = []
    seen = {}
    for name, expected, text in traces:
        bad += [f"{name}: {each}" for each in complaints(text, expected)[:3]]
        for what, count in expected.items():
            seen[what] = seen.get(what, 0) + count
        # What a stream did in order, placed no further off than the bounds, fits on one track.
        if name.startswith("played") and re.search(r'"name":"stream [^"]*, what overlaps', text):
            bad.append(f"{name}: a stream whose work was in order has a further track")
        seen["arrows"] = seen.get("arrows", 0) + text.count('"ph":"s"')
        seen["cut"] = seen.get("cut", 0) + text.count('"cut":true')
        seen["further tracks"] = seen.get("further tracks", 0) + text.count(", what overlaps ")
    report.result(f"{len(traces)} traces are good", "\n".join(bad[:20]))
    # Else good traces would be empty ones.
    report.result("they hold everything: " + ", ".join(f"{count} {what}" for what, count in seen.items()),
                  "\n".join(f"too few: {what}" for what, count in seen.items() if count < 100))
    report.finish()


if __name__ == "__main__":
    main()
