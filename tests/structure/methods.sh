# Only src/coupling knows the methods by name: no string elsewhere in src, include and app names one. Whatever differs
# from method to method stands in the method's own constant, so that a new method needs no code in other folders.
source "$(dirname "$0")/common.sh"

check() {
  python3 - "$1" <<'PYTHON'
import fnmatch, re, sys
import source

# A string breaks the rule if it contains one of the first words, or if it is one of the second: these are common English.
# "elastic" is not among them: it is also the word for a kind of body.
UNMISTAKABLE = re.compile(r"(?<![\w-])(monolithic|wcsph|direct-forcing)(?![\w-])")
COMMON = {"constraint", "unified"}
# A command line in a help text may show any method.
EXAMPLE = re.compile(r"^ *flotsam ")
# Files that may name methods, each with its reason.
ALLOWED = {
    "src/coupling/*": "the methods themselves and their table",
    "src/world/world.c": "the method of a world that names none",
    "src/bench/*": "measurements of one method each",
    "src/io/scene_tables*.c": "the help of a key says which method reads it",
}

root = sys.argv[1]
is_bad = False
for path in source.files(root, ["src", "include", "app"]):
    if any(fnmatch.fnmatch(path, pattern) for pattern in ALLOWED):
        continue
    text = re.sub(r'^[ \t]*#[ \t]*include[^\n]*', "", source.read(root, path), flags=re.MULTILINE)
    for line, string in source.parts(text, "string"):
        inside = string[1:-1]
        if (UNMISTAKABLE.search(inside) or inside in COMMON) and not EXAMPLE.match(inside):
            print(f"FAILED: {path}:{line}: names a method: {string}")
            is_bad = True
sys.exit(is_bad)
PYTHON
}

new_tree
write src/io/a.c <<'C'
#include "coupling/monolithic/monolithic.h"
// "method": "monolithic" in a comment.
const char *a = "an elastic body", *b = "a monolithically built dam", *c = "  flotsam info method wcsph\n";
C
echo 'const char *name = "wcsph";' | write src/coupling/wcsph/wcsph.c
echo 'const char *name = "monolithic";' | write src/world/world.c
expect_pass
echo 'bool is_it = !strcmp(name, "direct-forcing");' | write src/io/b.c
expect_fault 'src/io/b.c:1: names a method: "direct-forcing"'
new_tree
printf 'int a;\nconst char *text = "use method %cmonolithic%c";\n' "'" "'" | write app/b.c
expect_fault 'app/b.c:2: names a method'
new_tree
echo 'static const char *const names[] = {"wild", "unified"};' | write include/flotsam/b.h
expect_fault 'include/flotsam/b.h:1: names a method: "unified"'

finish
