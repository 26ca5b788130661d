"""Prints a C program that compares every struct and every enumeration of _abi.py with the headers."""

import ctypes
import re
import sys
from enum import IntEnum
from importlib import util

spec = util.spec_from_file_location("_abi", sys.argv[1])
abi = util.module_from_spec(spec)
spec.loader.exec_module(abi)
headers = open(sys.argv[2], encoding="utf-8").read()  # all of them

classes = [kind for kind in vars(abi).values() if isinstance(kind, type)]
structs = [kind for kind in classes if issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure]
enums = [kind for kind in classes if issubclass(kind, IntEnum) and kind is not IntEnum]
for found, declared in ((structs, r"^typedef struct \w+ \{"), (enums, r"^typedef enum \w+ \{"), (abi.FUNCTIONS, r"^FLO_API ")):
    n_declared = len(re.findall(declared, headers, re.M))
    assert len(found) == n_declared, f"{n_declared} in the headers, {len(found)} in Python: {declared}"

print("#include <flotsam/scenes.h>\n#include <stdio.h>\nstatic int n_wrong;")
print('static void same(const char *what, long a, long b) {\n  if (a != b) printf("%s: %ld in C, %ld in Python\\n", what, '
      'a, b), n_wrong++;\n}\nint main(void) {')
for kind in structs:
    name = "Flo" + kind.__name__
    print(f'  same("sizeof {name}", (long)sizeof({name}), {ctypes.sizeof(kind)});')
    for field, *_ in kind._fields_:
        about = getattr(kind, field)
        print(f'  same("{name}.{field}", (long)offsetof({name}, {field}), {about.offset});')
        print(f'  same("sizeof {name}.{field}", (long)sizeof((({name} *)0)->{field}), {about.size});')
prefixes = {}
for kind in enums:
    start = headers.index(f"typedef enum Flo{kind.__name__} ")
    body = "".join(line.split("//")[0] for line in headers[headers.index("{", start) + 1:headers.index("}", start)].splitlines())
    words = [word.split("=")[0].strip() for word in body.split(",") if word.strip()]
    assert len(words) == len(kind.__members__), (kind, words)
    for word, (member, value) in zip(words, kind.__members__.items()):
        assert word.endswith(member.lstrip("_")), (word, member)
        print(f'  same("{word}", (long){word}, {int(value)});')
print("  return n_wrong != 0;\n}")
