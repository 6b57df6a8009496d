"""Pages of the html report, as text and in a browser.

html_pages.py SETTINGS text: every page is valid, fetches nothing, runs nothing and loses nothing.
html_pages.py SETTINGS browser: a headless Chromium shows the same, without a word on its console, wide, narrow, light and dark.
"""
import html.parser
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree

from compilers import Report, Settings, Sources, WARNINGS, complaint_of, run, skip

VOID = {"meta", "br", "hr", "img", "input", "link", "base", "wbr", "area", "col", "source", "track", "embed"}
NEVER = {"script", "iframe", "object", "embed", "img", "link", "base", "form", "input", "audio", "video", "foreignobject"}
SVG = {"svg", "rect", "line", "circle", "path", "text", "defs", "pattern"}
# What a document may not hold as itself: controls, marks that turn the direction of writing, no characters.
NOT_ITSELF = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufdd0-\ufdef\ufffe\uffff]")

# What must be read in each page, whatever marks it up.
EXPECTED = {
    "training": ["At a glance", "Takes the most time, innermost", "forward [batch=256 dtype=bf16]", "not steady", "waiting behind earlier work",
                 "Three executions from the middle of it", "device 1, stream 3", "host thread 0", "3 lost",
                 "every event of the pool was waiting", "host, until left, us", "95 % interval of the median", "(its first)",
                 "first 7.197 ms", "shaded: warm-up", "from the start event to the stop event on the stream",
                 "NVIDIA H200", "level from value", "histogram from"],
    "short": ["upload", "12 values in their order"],
    "comparison": ["Comparison: before is a, after is b", "slower", "+3.3 %", "Before (a)", "After (b)", "within one run only"],
    "hostile": ["<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "]]>--><!-- &amp; &lt; ' onload='alert(3)", "\"\"",
                "zero \\x00 byte", "\\x01\\x02\\x1b[31m\\x7f\\n\\t\\r \\x1f", "bad \\xff\\xc0\\x80\\xed\\xa0\\x80 utf-8",
                "turned \\u202e txet \\u2066 and \\u061c", "none \\uffff \\ufffe \\U0001ffff", "\u05e9\u05dc\u05d5\u05dd \u4f60\u597d \U0001f680",
                "w" * 5000, "zeros", "tiny and huge", "never entered", "<i>phase</i>", "alert('problem')</script>\\x1b[2J",
                "</title><script>alert('device')</script>", "<svg onload=alert(4)>", "still open when the recording was taken"],
    "hostile_comparison": ["Comparison", "<script>alert(1)</script>"],
    "many": ["phase 0", "phase 9999", "phase 5000", "32 that took the longest of 10000"],
    "thinned": ["one in 8 of the others were kept", "200000 values", "of all within 0.05 %"],
    "roofline": ["Roofline", "66.91 Tflop/s, from the device's attributes: FP32 without tensor cores", "ridge 13.61 flop/B",
                 "4.917 TB/s, from the device's attributes", "gemm [rows=8192]", "90.8 % of memory", "83.2 % of arithmetic",
                 "of device 0, NVIDIA H200", "Ringed: above a roof", "gemm_bf16: 822.0 % of the roof of the arithmetic",
                 "copy: it has no operations", "spin: it has no bytes", "reads only: no bytes written are declared", "0.08333"],
    "roofline_no_device": ["Roofline", "No roof is drawn: of the arithmetic, no device is described: no driver <here>",
                           "absent: no device is described: no driver <here>", "gemm [rows=8192]", "55.65 Tflop/s"],
    "roofline_given": ["989.0 Tflop/s, given: the <data sheet>: bf16 on tensor cores",
                       "ridge 201.1 flop/B", "55.6 % of arithmetic"],
    "roofline_counted": ["989.0 Tflop/s", "89.5 % of memory", "vector_add: bytes counted by ncu, dram__bytes.sum",
                         "softmax: counted bytes were left aside: they were counted with flushed caches"],
    "roofline_comparison": ["Before (a)", "989.0 Tflop/s, given: the <data sheet>: bf16 on tensor cores", "ridge 201.1 flop/B",
                            "After (b)", "840.0 Tflop/s, given: what a <tuned> product reaches", "ridge 170.8 flop/B"],
    "empty": ["nothing measured: no phase was made"],
    "off": ["not measured: off by STREAMGAUGE=<off>"],
    "marked": ["not measured: mark, which names ranges for tools only"],
    "nothing_common": ["nothing to compare: no series has a time on both sides", "unmatched"],
}


class Page(html.parser.HTMLParser):
    """Reads a page and writes down what is wrong with it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.wrong, self.open, self.ids, self.links, self.words = [], [], [], [], []
        self.counts, self.shapes, self.table_columns = {}, {}, []
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"never closed: {self.open}")
        for one in sorted({i for i in self.ids if self.ids.count(i) > 1} if len(self.ids) < 3000 else set()):
            self.wrong.append(f"two places are called {one}")
        known = set(self.ids)
        self.wrong += [f"a link to {link}, which is nowhere" for link in self.links if link not in known]

    def complain(self, what):
        self.wrong.append(f"line {self.getpos()[0]}: {what}")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        values = dict(attributes)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag in NEVER:
            self.complain(f"<{tag}>")
        if len(names) != len(set(names)):
            self.complain(f"<{tag}> has an attribute twice: {names}")
        for name, value in attributes:
            if name.startswith("on") or name in ("src", "srcset", "action", "xlink:href", "formaction"):
                self.complain(f"<{tag} {name}>")
            if name == "href":
                if not value.startswith("#"):
                    self.complain(f"leads elsewhere: {value}")
                self.links.append(value[1:])
            if name in ("x", "y", "x1", "x2", "y1", "y2", "width", "height", "cx", "cy", "r") and not re.fullmatch(r"-?\d+(\.\d)?", value):
                self.complain(f"<{tag} {name}={value}>")
            if name == "d" and not re.fullmatch(r"([MLHV]-?\d+(\.\d)?( -?\d+(\.\d)?)?|h0|z)+", value):
                self.complain(f"a path that is none: {value[:80]}")
            if name in ("width", "height") and value.startswith("-"):
                self.complain(f"<{tag} {name}={value}>")
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "svg" and values.get("aria-hidden") != "true" and not (values.get("role") == "img" and values.get("aria-label")):
            self.complain("a picture that says nothing to those who cannot see it")
        if tag == "th" and values.get("scope") not in ("col", "row", "colgroup"):
            self.complain("a heading of a table that does not say of what")
        if tag in ("td", "th"):
            self.table_columns[-1][-1] += int(values.get("colspan", 1))
        if tag == "table":
            self.table_columns.append([])
        if tag == "tr":
            self.table_columns[-1].append(0)
        if tag not in VOID and tag not in ():
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        if tag not in SVG:
            self.complain(f"<{tag}/> closes nothing")
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.complain(f"</{tag}> closes {self.open[-1:]}")
            return
        self.open.pop()
        if tag == "table":
            columns = set(self.table_columns.pop())
            if len(columns) > 1:
                self.complain(f"a table whose rows have {sorted(columns)} cells")

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def handle_comment(self, data):
        self.complain(f"a comment: {data[:60]}")

    @property
    def text(self):
        return " ".join("".join(self.words).replace("\xa0", " ").split())


def contrast(one, other):
    """Of two colours as #rrggbb, by the rule of WCAG 2."""
    def brightness(color):
        parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def contrast_complaints(text):
    """Text at 4.5 to 1 and shapes at 3 to 1, in light and in dark."""
    wrong = []
    themes = re.findall(r":root\{[^}]*?(--bg:[^}]*)\}", text)
    if len(themes) < 2:
        return "not two sets of colours"
    for theme in themes[:2]:
        colors = dict(re.findall(r"--(\w+):(#\w{6})", theme))
        for back in ("bg", "card"):
            for name, least in [(n, 4.5) for n in "ink soft accent good bad open".split()] + [(f"c{i}", 3.0) for i in range(8)]:
                found = contrast(colors[name], colors[back])
                if found < least:
                    wrong.append(f"--{name} {colors[name]} on --{back} {colors[back]}: {found:.2f}, not {least}")
    return "\n".join(wrong)


def page_complaints(name, raw):
    wrong = []
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error}"
    wrong += [f"holds U+{ord(m.group()):04X} as itself" for m in list(NOT_ITSELF.finditer(text))[:3]]
    page = Page(text)
    wrong += page.wrong[:10]
    for needed in ('<!DOCTYPE html>\n<html lang="en">', '<meta charset="utf-8">', '<meta name="viewport"', "<title>",
                   "default-src 'none'; style-src 'unsafe-inline'"):
        if needed not in text[:1000]:
            wrong.append(f"lacks {needed}")
    if re.search(r"https?:|//[a-z]|@import|javascript:", text):
        wrong.append("names something that is elsewhere")
    for target in re.findall(r"url\(([^)]*)\)", text):
        if target not in ("#hatch", "#dots"):
            wrong.append(f"url({target})")
    if page.counts.get("figure", 0) != page.counts.get("figcaption", 0):
        wrong.append("a figure without a caption")
    for picture in re.findall(r"<svg .*?</svg>", text, re.DOTALL):
        try:
            xml.etree.ElementTree.fromstring(picture)
        except xml.etree.ElementTree.ParseError as error:
            wrong.append(f"a picture that is no XML: {error}: {picture[:200]}")
            break
    wrong += [f"does not say {words[:80]!r}" for words in EXPECTED[name] if " ".join(words.split()) not in page.text]
    return "\n".join(wrong)


def make_pages(settings, report):
    """The folder of the pages, by a program that is compiled for it."""
    folder = Sources(settings, "html").folder
    program = os.path.join(folder, "html_pages")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "html_pages.cpp")
    compiler = settings.compilers["g++"] or settings.compilers.get("clang++")
    wrong = complaint_of([compiler, "-std=c++17", "-O1", *WARNINGS, "-I", settings.include, source, "-o", program])
    wrong = wrong or complaint_of([program, folder])
    report.result("the pages are written", wrong)
    if wrong:
        report.finish()
    return folder


def check_text(folder, report):
    pages = {name: open(os.path.join(folder, name + ".html"), "rb").read() for name in EXPECTED}
    # Each kind of damage is planted in a good page and must be seen.
    good = pages["short"].decode()
    for what, changed in [
            ("a script", good.replace("<main>", "<main><script>1</script>")),
            ("an attribute that runs", good.replace("<article", '<article onclick="1"', 1)),
            ("a tag that is not closed", good.replace("</article>", "", 1)),
            ("a control character", good.replace("upload", "up\x1bload", 1)),
            ("a turned direction", good.replace("upload", "up\u202eload", 1)),
            ("a coordinate that is no number", re.sub(r'<rect x="[\d.]+"', '<rect x="nan"', good, 1)),
            ("a picture without words", good.replace('role="img"', 'role="none"', 1)),
            ("a link to nowhere", good.replace('href="#trust"', 'href="#thrust"', 1)),
            ("something fetched", good.replace("<style>", "<style>@import 'x';", 1)),
            ("a row with a cell too many", good.replace("</td></tr>", "</td><td></td></tr>", 1)),
            ("a page that does not say what it should", good.replace("upload", "uplaod")),
    ]:
        report.result(f"sees {what}", "" if changed != good and page_complaints("short", changed.encode()) else "planted and not seen")
    for name, raw in pages.items():
        report.result(f"{name}: valid, nothing fetched, nothing run, nothing lost ({len(raw) / 1e3:.0f} kB)", page_complaints(name, raw))
    report.result("contrast of text 4.5 : 1, of shapes 3 : 1", contrast_complaints(good))


class Browser:
    def __init__(self):
        names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")
        self.program = next((path for path in map(shutil.which, names) if path), None)
        self.home = tempfile.mkdtemp(prefix="browser-")

    def show(self, path, width=1200, dark=False, output="--dump-dom"):
        """What the page is once it is shown, and what the console said."""
        status, said = run(["timeout", "120", self.program, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                            "--v=0", f"--user-data-dir={self.home}", f"--window-size={width},1600", "--hide-scrollbars",
                            f"--blink-settings=preferredColorScheme={0 if dark else 1}", output, "file://" + path],
                           env={**os.environ, "HOME": self.home})
        console = [line for line in said.splitlines() if "CONSOLE" in line]
        return status, said, console


# Answers to the frame around it, whose title then comes back with the dumped page.
PROBE = """<script>addEventListener('load', () => {
  const wide = document.documentElement.clientWidth;
  const outside = [...document.querySelectorAll('svg text')].filter(e => {
    const r = e.getBoundingClientRect(); return r.width > 0 && (r.left < -1 || r.right > wide + 1); }).length;
  const small = [...document.querySelectorAll('svg.plot text')].filter(e => {
    const r = e.getBoundingClientRect(); return r.height > 0 && r.height < 9; }).length;
  const flat = [...document.querySelectorAll('svg[role=img]')].filter(e => {
    const r = e.getBoundingClientRect(); return r.width < 1 || r.height < 1; }).length;
  const thin = [...document.querySelectorAll('.scroll tbody th')].filter(e => {
    const r = e.getBoundingClientRect(); return r.height > 0 && r.width < 110; }).length;
  parent.postMessage(['probe', wide, document.documentElement.scrollWidth, outside, small, flat, thin,
    getComputedStyle(document.documentElement).backgroundColor].join(' '), '*');
});</script></head>"""
# A window is never narrower than 500 pixels, a frame in it is.
FRAME = """<!DOCTYPE html><html><head><title>waits</title></head><body style="margin:0"><script>
addEventListener('message', event => { document.title = event.data; });</script>
<iframe src="%s" style="width:%dpx;height:1500px;border:0"></iframe></body></html>"""


def look_complaints(browser, folder, name, width, dark, style=""):
    """What is wrong with how a page looks. With its own rule a page lets nobody ask, so a copy without it is asked."""
    with open(os.path.join(folder, name + ".html"), encoding="utf-8") as file:
        written = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", file.read())
    probed = os.path.join(folder, name + "_probed.html")
    with open(probed, "w", encoding="utf-8") as file:
        file.write(written.replace("</style>", style + "</style>", 1).replace("</head>", PROBE, 1))
    frame = os.path.join(folder, name + "_framed.html")
    with open(frame, "w", encoding="utf-8") as file:
        file.write(FRAME % (os.path.basename(probed), width))
    _, said, _ = browser.show(frame, 1200, dark)
    answer = re.search(r"<title>probe (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) rgba?\((\d+)", said)
    if not answer:
        return f"gave no answer: {said[:300]}"
    wide, scrolled, outside, small, flat, thin, red = map(int, answer.groups())
    wrong = []
    if wide != width:
        wrong.append(f"shown {wide} pixels wide")
    if scrolled > wide:
        wrong.append(f"{scrolled} pixels wide, where {wide} are seen")
    if outside:
        wrong.append(f"{outside} texts of pictures reach over the edge")
    if small:
        wrong.append(f"{small} texts of pictures are too small to read")
    if flat:
        wrong.append(f"{flat} pictures have no size")
    if thin:
        wrong.append(f"{thin} names stand in a column that is too narrow to read them")
    if (red < 128) != dark:
        wrong.append(f"the background is {red} of 255 bright")
    return "\n".join(wrong)


def check_browser(folder, report):
    browser = Browser()
    if not browser.program:
        skip("no Chromium here (apt-get install chromium), so no page was opened")
    planted = os.path.join(folder, "planted.html")
    good = open(os.path.join(folder, "short.html"), encoding="utf-8").read()
    with open(planted, "w", encoding="utf-8") as file:
        file.write(good.replace("</main>", "<script>document.title = 'ran'</script></main>"))
    status, said, console = browser.show(planted)
    report.result("sees what the console says, and the page itself allows no script",
                  "" if console and "<title>ran" not in said else f"status {status}, a planted script was not refused:\n{said[:500]}")
    for name, expected in EXPECTED.items():
        path = os.path.join(folder, name + ".html")
        written = open(path, encoding="utf-8").read()
        status, said, console = browser.show(path)
        wrong = list(console[:3])
        shown = said[said.find("<!DOCTYPE"):]
        try:
            as_shown = Page(shown)
            as_written = Page(written)
            for tag in sorted(SVG | {"table", "tr", "td", "th", "details", "figure", "h2", "article"}):
                if as_shown.counts.get(tag, 0) != as_written.counts.get(tag, 0):
                    wrong.append(f"{as_written.counts.get(tag, 0)} <{tag}> were written, {as_shown.counts.get(tag, 0)} are shown")
            wrong += [f"does not show {words[:80]!r}" for words in expected if " ".join(words.split()) not in as_shown.text]
        except Exception as error:  # whatever a browser may hand back
            wrong.append(f"cannot be read: {error!r}: {said[:300]}")
        if status != 0:
            wrong.append(f"status {status}")
        report.result(f"{name}: shown whole, the console is silent", "\n".join(wrong))
    for what, style in [("a page that is too wide", "main{min-width:500px}"), ("text over the edge", "svg{transform:translateX(-70px)}"),
                        ("text that is too small", ".plot:not(.small) text{font-size:9px!important}"),
                        ("a picture without a size", ".flat{height:0!important}"),
                        ("a column of names without room", "tbody th{min-width:0!important}.scroll table{width:300px}"),
                        ("a page that is light where it should be dark", "html{background:#fff!important}")]:
        wrong = look_complaints(browser, folder, "training", 400, "a page that is light" in what, style)
        report.result(f"sees {what}", "" if wrong else "planted and not seen")
    for name, width, dark in [(name, width, dark) for name in ("training", "comparison", "hostile", "thinned", "roofline", "roofline_no_device", "roofline_given", "empty")
                              for width, dark in ((1200, False), (400, False), (400, True))
                              if not dark or name in ("training", "roofline")]:
        report.result(f"{name}, {width} pixels, {'dark' if dark else 'light'}",
                      look_complaints(browser, folder, name, width, dark))
    sheet = os.path.join(folder, "training.pdf")
    browser.show(os.path.join(folder, "training.html"), output=f"--print-to-pdf={sheet}")
    printed = os.path.exists(sheet) and open(sheet, "rb").read(5) == b"%PDF-"
    report.result("training: goes on paper", "" if printed else "no PDF came out")
    shutil.rmtree(browser.home, ignore_errors=True)


def main():
    settings = Settings(sys.argv[1])
    report = Report()
    browser = sys.argv[2] == "browser"
    if browser and not Browser().program:
        skip("no Chromium here (apt-get install chromium), so no page was opened")
    folder = make_pages(settings, report)
    (check_browser if browser else check_text)(folder, report)
    report.finish()


if __name__ == "__main__":
    main()
