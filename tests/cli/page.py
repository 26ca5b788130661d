"""Checks a page that flotsam wrote: page.py FILE. Prints what is in it, one fact per line; complains by exit code 1.

Tags are balanced, nothing is fetched from anywhere, no scripts, all data decode, PNGs and movies are what they say, every
link within the page leads somewhere, and no name is given twice."""
import base64
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "br", "hr", "input"}
problems = []


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.texts, self.pictures, self.movies, self.plots = [], [], [], [], 0, 0, 0

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if len(a) != len(attributes):
            problems.append(f"<{tag}> has an attribute twice")
        if tag == "script" or any(name.startswith("on") for name in a):
            problems.append(f"a script in <{tag}>")
        for name in ("src", "href", "poster", "data", "srcset", "action"):
            if name in a:
                self.look_at(tag, a[name])
        if "style" in a and "url(" in a["style"]:
            problems.append("a style that fetches something")
        if "id" in a:
            self.ids.append(a["id"])
        self.plots += tag == "svg"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag in VOID or not self.open or self.open.pop() != tag:
            problems.append(f"</{tag}> closes nothing, at line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "style" and re.search(r"url\(|@import", data):
            problems.append("a style that fetches something")
        self.texts.append(data)

    def look_at(self, tag, target):
        if target.startswith("#"):
            self.links.append(target[1:])
        elif target == "data:,":
            pass
        elif target.startswith("data:image/png;base64,"):
            self.pictures += 1
            if not base64.b64decode(target.split(",", 1)[1], validate=True).startswith(b"\x89PNG\r\n\x1a\n"):
                problems.append("a picture that is no PNG")
        elif target.startswith("data:video/mp4;base64,"):
            self.movies += 1
            if base64.b64decode(target.split(",", 1)[1], validate=True)[4:8] != b"ftyp":
                problems.append("a movie that is no MP4")
        else:
            problems.append(f"<{tag}> wants {target[:60]}")


text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
if page.open:
    problems.append(f"never closed: {page.open}")
if not text.startswith("<!DOCTYPE html>") or not text.endswith("</html>\n"):
    problems.append("not a whole page")
for target in page.links:
    if target not in page.ids:
        problems.append(f"a link to #{target}, which is not there")
if len(set(page.ids)) != len(page.ids):
    problems.append("a name given twice")
print(f"pictures {page.pictures}\nmovies {page.movies}\nplots {page.plots}")
for line in "".join(page.texts).split("\n"):
    print(line)
for problem in problems:
    print("PROBLEM:", problem, file=sys.stderr)
sys.exit(bool(problems))
