# Includes point one way only: a folder includes itself and the folders below it in the list of the script. A method's
# folder, src/coupling/NAME, includes of src/coupling only itself, coupling.h and what methods share, src/coupling/forces.
source "$(dirname "$0")/common.sh"

check() {
  python3 - "$1" <<'PYTHON'
import os, re, sys
import source

# From the bottom to the top. Folders on one line are on one level and may include each other.
LEVELS = [
    ["include"],            # the public interface: all may include it
    ["base"],
    ["geometry", "optional"],
    ["sph"],
    ["solve"],
    ["soft"],               # cloth and elastic bodies by themselves
    ["bodies"],
    ["state"],
    ["coupling"],
    ["world"],
    ["io"],
    ["surface"],            # beside render for the program, but pictures of water need surfaces
    ["render"],
    ["bench"],
    ["app"],
]
LEVEL = {folder: level for level, folders in enumerate(LEVELS) for folder in folders}
SHARED = ("src/coupling/coupling.h", "src/coupling/forces/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)


def folder_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def method_of(path):
    parts = path.split("/")
    return parts[2] if parts[:2] == ["src", "coupling"] and len(parts) > 3 else None


def resolve(root, path, mark, name):
    """The included file of this tree, or None: a header of the system."""
    for folder in ([os.path.dirname(path)] if mark == '"' else []) + ["src", "include"]:
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def fault(path, target):
    """The rule that an include breaks, or None."""
    here, there = folder_of(path), folder_of(target)
    for folder, file in ((here, path), (there, target)):
        if folder not in LEVEL:
            return f"{file} is in a folder that has no level yet; add it to LEVELS in tests/structure/includes.sh"
    if LEVEL[there] > LEVEL[here]:
        return f"{there} is above {here}"
    method = method_of(path)
    if method and there == "coupling" and method_of(target) != method and not target.startswith(SHARED):
        return f"coupling/{method} may include only itself, coupling/coupling.h and coupling/forces of coupling"
    return None


root = sys.argv[1]
is_bad = False
for path in source.files(root, ["src", "include", "app"]):
    text = source.without(source.read(root, path), "comment")
    for found in INCLUDE.finditer(text):
        target = resolve(root, path, *found.groups())
        rule = fault(path, target) if target else None
        if not target and found.group(1) == '"':
            rule = "there is no such file in src or include"
        if rule:
            print(f'FAILED: {path}:{source.line_of(text, found.start())}: includes "{found.group(2)}": {rule}')
            is_bad = True
sys.exit(is_bad)
PYTHON
}

for header in src/base/memory.h src/state/state.h src/io/scene.h src/surface/surface.h src/render/picture.h app/app.h \
  src/coupling/coupling.h src/coupling/forces/drag.h src/coupling/one/one.h src/coupling/two/two.h \
  include/flotsam/flotsam.h; do
  mkdir -p "$work/good/$(dirname "$header")"
  touch "$work/good/$header"
done
# new_headers: a tree of empty headers.
new_headers() { new_tree && cp -r "$work/good/." "$work/tree"; }
# expect_include FILE HEADER RULE: an include of the header in that file is refused by the rule, with its line.
expect_include() {
  new_headers
  printf '// A comment.\n#include "%s"\n' "$2" | write "$1"
  expect_fault "$1:2: includes \"$2\": $3"
}

new_headers
printf '#include "app.h"\n#include "render/picture.h"\n#include <stdio.h>\n#include <flotsam/flotsam.h>\n' | write app/a.c
printf '#include "io/scene.h"\n#include "surface/surface.h"\n' | write src/render/a.c
printf '#include "one.h"\n#include "coupling/coupling.h"\n#include "coupling/forces/drag.h"\n' | write src/coupling/one/a.c
printf '#include "coupling/one/one.h"\n#include "coupling/two/two.h"\n' | write src/coupling/coupling.c
printf '// #include "app.h"\n#include "flotsam/flotsam.h"\n' | write src/base/a.c
expect_pass

expect_include src/base/a.c state/state.h "state is above base"
expect_include src/state/a.c ../coupling/coupling.h "coupling is above state"
expect_include src/io/a.h render/picture.h "render is above io"
expect_include src/io/a.h surface/surface.h "surface is above io"
expect_include src/bench/a.c ../../app/app.h "app is above bench"
expect_include include/flotsam/a.h base/memory.h "base is above include"
expect_include src/coupling/one/a.c coupling/two/two.h "coupling/one may include only itself"
expect_include src/coupling/forces/a.c coupling/two/two.h "coupling/forces may include only itself"
expect_include src/strange/a.c base/memory.h "src/strange/a.c is in a folder that has no level yet"
expect_include src/base/a.c base/absent.h "there is no such file"

finish
