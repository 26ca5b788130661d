#!/usr/bin/env python3
"""Writes flotsam/_abi.py: the structs, enumerations and functions of the public headers, for ctypes.

    python3 make_bindings.py HEADER_FOLDER > _abi.py

It reads the small part of C in which the headers are written: enumerations, structs, prototypes and constants, each
followed by its comment. It stops with an error at anything else, so that nothing is left out unnoticed.
"""

import re
import sys
from pathlib import Path

HEADERS = "types.h", "joints.h", "flotsam.h"  # in the order in which they need each other; all others come before the last

BASIC = {
    "void": "None", "bool": "c_bool", "int": "c_int", "size_t": "c_size_t", "char": "c_char", "double": "c_double",
    "float": "c_float", "uint8_t": "c_uint8", "uint16_t": "c_uint16", "uint32_t": "c_uint32", "uint64_t": "c_uint64",
    "int32_t": "c_int32", "int64_t": "c_int64",
}


class Unknown(Exception):
    """Something that this program does not understand; the text shows it."""


def short(name):
    """FloBodyDef is BodyDef in Python."""
    return name[3:] if name.startswith("Flo") else name


# ---- Comments ----


def comment_after(lines, k):
    """The comment at the end of line k and those on lines of their own below it, until something else comes."""
    if "//" not in lines[k]:
        return ""
    parts = [lines[k].split("//", 1)[1].strip()]
    column = lines[k].index("//")
    for line in lines[k + 1:]:
        if not line.lstrip().startswith("//") or line.index("//") < min(column, 12):
            break
        parts.append(line.split("//", 1)[1].strip())
    return " ".join(parts)


def split_text(text, mark):
    """Parts of a text between marks, but not inside of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == mark and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


# ---- Types ----


class Reader:
    def __init__(self):
        self.enums, self.structs, self.opaque, self.functions, self.constants = {}, {}, [], [], {}
        self.comments = {}

    def base_type(self, words):
        name = " ".join(word for word in words.split() if word not in ("const", "struct", "enum"))
        if name in BASIC:
            return BASIC[name]
        if name in self.enums:
            return "c_int"
        if name in self.structs or name in self.opaque:
            return short(name)
        raise Unknown(f"the type '{words}'")

    def pointer_type(self, words, n_stars):
        base = self.base_type(words)
        if n_stars == 0:
            return base
        if base == "None":
            base, n_stars = "c_void_p", n_stars - 1
        elif base == "c_char" and "const" in words:
            base, n_stars = "c_char_p", n_stars - 1
        elif short(words.replace("const", "").strip()) == base and any(short(o) == base for o in self.opaque):
            base, n_stars = "c_void_p", n_stars - 1
        for _ in range(n_stars):
            base = f"POINTER({base})"
        return base

    def function_type(self, text):
        """Of 'RESULT (*NAME)(PARAMETERS)': the name and the type."""
        match = re.fullmatch(r"(.+?)\(\s*\*\s*(\w*)\s*\)\s*\((.*)\)", text, re.S)
        if not match:
            return None
        result, stars = match.group(1).strip(), 0
        while result.endswith("*"):
            result, stars = result[:-1].strip(), stars + 1
        types = [self.pointer_type(result, stars), *self.parameters(match.group(3))]
        return match.group(2), f"CFUNCTYPE({', '.join(types)})"

    def declarator(self, words, text):
        """Name and type of one of the names behind the words of a type; lengths of arrays follow the name."""
        stars = text.count("*")
        match = re.fullmatch(r"(\w*)((?:\s*\[[^]]*\])*)", re.sub(r"\*|\bconst\b", " ", text).strip())
        if not match:
            raise Unknown(f"the declaration '{words} {text}'")
        return match.group(1), self.pointer_type(words, stars), re.findall(r"\[([^]]*)\]", match.group(2))

    def parameters(self, text):
        if text.strip() in ("", "void"):
            return []
        types = []
        for part in split_text(text, ","):
            function = self.function_type(part)
            if function:
                types.append(function[1])
                continue
            match = re.fullmatch(r"((?:const\s+)?\w+)\b(.*)", part.strip(), re.S)
            _, kind, lengths = self.declarator(match.group(1), match.group(2))
            types.append(f"POINTER({kind})" if lengths else kind)
        return types

    # ---- Declarations ----

    def read_enum(self, name, body):
        value, members = -1, {}
        for part in split_text(body, ","):
            key, _, given = (word.strip() for word in part.partition("="))
            value = eval(re.sub(r"(\d)u\b", r"\1", given), {}, members) if given else value + 1  # 1u << 3
            members[key] = value
        self.enums[name] = members

    def read_struct(self, name, body):
        self.structs[name] = fields = []
        for part in split_text(body, ";"):
            function = self.function_type(part)
            if function:
                fields.append((*function, None))
                continue
            match = re.fullmatch(r"((?:const\s+)?\w+)\b(.*)", part.strip(), re.S)
            words = match.group(1)
            for item in split_text(match.group(2), ","):
                field, kind, lengths = self.declarator(words, item)
                for length in reversed(lengths):
                    kind = f"{kind} * {self.constants.get(length, length)}"
                fields.append((field, kind, words.split()[-1] if words.split()[-1] in self.enums else None))

    def read_function(self, text):
        match = re.fullmatch(r"(.+?)\b(flo_\w+)\s*\((.*)\)", text, re.S)
        if not match:
            raise Unknown(f"the function '{text}'")
        words, stars = match.group(1).strip(), match.group(1).count("*")
        result = self.pointer_type(" ".join(re.sub(r"\*(\s*const\b)?", " ", words).split()), stars)
        self.functions.append((match.group(2), result, self.parameters(match.group(3))))

    def read_comments(self, text):
        owner, lines = None, text.splitlines()
        for k, line in enumerate(lines):
            match = re.match(r"typedef (?:struct|enum) (\w+)", line)
            owner = match.group(1) if match else owner
            code = line.split("//")[0]
            name = re.search(r"(\w+)(?:\[\w+\])*\s*(?:=[^,;]*)?[,;]?\s*$", code) if code.startswith(" ") else None
            comment = comment_after(lines, k)
            if owner and name and comment:
                self.comments[owner, name.group(1)] = comment

    def read(self, text):
        self.read_comments(text)
        for name, value in re.findall(r"^#define (FLO_\w+)[ \t]+(-?[\d.]+)\s*$", text, re.M):
            self.constants[name] = value
        text = re.sub(r"//[^\n]*", "", text)
        text = re.sub(r"^\s*#[^\n]*", "", text, flags=re.M).replace('extern "C" {', "")
        text = re.sub(r"^}\s*$", "", text, flags=re.M)
        for part in split_text(text, ";"):
            self.read_declaration(part)

    def read_declaration(self, part):
        match = re.fullmatch(r"typedef (enum|struct) (\w+)\s*\{(.*)\}\s*\w+", part, re.S)
        opaque = re.fullmatch(r"typedef struct (\w+) \w+", part)
        function = re.fullmatch(r"typedef (.*\(\s*\*.*)", part, re.S)
        if match and match.group(1) == "enum":
            self.read_enum(match.group(2), match.group(3))
        elif match:
            self.read_struct(match.group(2), match.group(3))
        elif opaque:
            self.opaque.append(opaque.group(1))
        elif function:
            name, kind = self.function_type(function.group(1))
            BASIC[name] = kind
        elif part.startswith("FLO_API"):
            self.read_function(part[len("FLO_API"):].strip())
        else:
            raise Unknown(f"'{part}'")


# ---- The module ----


def common_start(names):
    """'FLO_SHAPE_' of FLO_SHAPE_BOX, FLO_SHAPE_SPHERE, ...: whole words only."""
    words = [name.split("_") for name in names]
    n = 0
    while all(len(w) > n + 1 for w in words) and len({w[n] for w in words}) == 1:
        n += 1
    return "_".join(words[0][:n]) + "_"


def write_enum(name, members):
    start = common_start([m for m in members if m != "FLO_OK"])
    lines = [f"class {short(name)}(IntEnum):"]
    for member, value in members.items():
        key = member[len(start):] if member.startswith(start) else member.removeprefix("FLO_")
        lines.append(f"    {key if not key[0].isdigit() else '_' + key} = {value}")
    return "\n".join(lines)


def write_struct(name, fields, constants):
    enums = {field: short(enum) for field, _, enum in fields if enum}
    pairs = "".join(f'        ("{field}", {kind}),\n' for field, kind, _ in fields)
    return f"class {short(name)}(Structure):\n    _enums_ = {enums!r}\n    _fields_ = [\n{pairs}    ]"


def write_module(reader, out):
    print('"""Written by make_bindings.py from the C headers: do not edit."""\n', file=out)
    print("from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32,\n"
          "                    c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)\n"
          "from enum import IntEnum\n", file=out)
    for name, value in reader.constants.items():
        print(f"{name.removeprefix('FLO_')} = {value}", file=out)
    for name, members in reader.enums.items():
        print(f"\n\n{write_enum(name, members)}", file=out)
    for name, fields in reader.structs.items():
        print(f"\n\n{write_struct(name, fields, reader.constants)}", file=out)
    print("\n\n# Result and parameters of every function.\nFUNCTIONS = {", file=out)
    for name, result, types in reader.functions:
        print(f'    "{name}": ({result}, [{", ".join(types)}]),', file=out)
    print("}\n\n# What the headers say about the members of structs and enumerations.\nCOMMENTS = {", file=out)
    for (owner, name), comment in reader.comments.items():
        print(f"    ({short(owner)!r}, {name!r}): {comment!r},", file=out)
    print("}", file=out)


def header_files(folder):
    """All headers: the main one last, since the others have the types that it needs."""
    known = [folder / name for name in HEADERS[:-1]]
    others = sorted(set(folder.glob("*.h")) - {folder / name for name in HEADERS})
    return [*known, *others, folder / HEADERS[-1]]


def main():
    reader = Reader()
    for path in header_files(Path(sys.argv[1])):
        try:
            reader.read(path.read_text(encoding="utf-8"))
        except Unknown as error:
            sys.exit(f"make_bindings.py: {path}: cannot read {error}")
    write_module(reader, sys.stdout)


if __name__ == "__main__":
    main()
