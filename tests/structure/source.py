"""Reads C sources for the tests of the source tree: which parts are comments, which are strings, where functions are."""

import os
import re

# One alternative for each kind of text that is not plain code. A comment inside a string is part of the string, and the
# other way round, because the first match wins.
PARTS = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<char>'(?:\\.|[^'\\\n])*')""",
    re.DOTALL | re.VERBOSE | re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def files(root, folders, endings=(".c", ".h")):
    """Paths, relative to root, of all files below the folders; a folder may also be the name of one file."""
    found = []
    for folder in folders:
        if os.path.isfile(os.path.join(root, folder)):
            found.append(folder)
        for place, _, names in os.walk(os.path.join(root, folder)):
            found += [os.path.relpath(os.path.join(place, name), root) for name in names if name.endswith(endings)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def parts(text, *kinds):
    """(line, text) of every comment, string or char."""
    return [(line_of(text, m.start()), m.group()) for m in PARTS.finditer(text) if m.lastgroup in kinds]


def blank(match):
    """Spaces in place of the match; the lines stay."""
    return re.sub(r"[^\n]", " ", match.group())


def without(text, *kinds):
    """The text with those parts blanked out, every other character at its place."""
    return PARTS.sub(lambda m: blank(m) if m.lastgroup in kinds else m.group(), text)


def is_function(head):
    """Whether the code before a brace at file level is the head of a function."""
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head, flags=re.DOTALL).strip()
    return head.endswith(")") and not re.search(r"(?<![=!<>])=(?!=)", head) and not head.startswith("typedef")


def function_name(head):
    names = [name for name in re.findall(r"([A-Za-z_]\w*)\(", head) if name != "__attribute__"]
    return names[0] if names else "?"


def n_body_lines(code, start, end):
    """Lines between the braces at start and end; a body beside its braces on one line counts as one."""
    inside = code[start + 1:end]
    return max(inside.count("\n") - 1, 1) if inside.strip() else 0


def functions(text):
    """(name, first line, lines of the body) of every function that a file defines."""
    code = without(text, "comment", "string", "char")
    depths, found, depth, start, head_from = [], [], 0, 0, 0
    directives = {m.start(): m for m in DIRECTIVE.finditer(code)}
    at = 0
    while at < len(code):
        if at in directives:
            # The branches of an #if may each open the same brace: every branch begins at the depth of the first.
            word = re.match(r"\s*#\s*(\w*)", directives[at].group()).group(1)
            if word in ("if", "ifdef", "ifndef"):
                depths.append(depth)
            elif word in ("else", "elif") and depths:
                depth = depths[-1]
            elif word == "endif" and depths:
                depths.pop()
            at = directives[at].end()
            if depth == 0:
                head_from = at
            continue
        character = code[at]
        if character == "{" and depth == 0 and code[head_from:at].strip() == "extern":
            head_from = at + 1  # extern "C": what is inside stays at file level
        elif character == "{":
            if depth == 0:
                start = at
            depth += 1
        elif character == "}" and depth == 0:
            head_from = at + 1  # the end of extern "C"
        elif character == "}":
            depth -= 1
            if depth == 0 and is_function(code[head_from:start]):
                head = code[head_from:start]
                first = head_from + len(head) - len(head.lstrip())
                found.append((function_name(head), line_of(code, first), n_body_lines(code, start, at)))
                head_from = at + 1
        elif character == ";" and depth == 0:
            head_from = at + 1
        at += 1
    return found
