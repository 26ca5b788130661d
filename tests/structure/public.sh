# Every function of the public headers is called with good, NULL, stale and NaN arguments: its name stands before a
# parenthesis in tests/input/test_public_functions.c, or in test_public_scenes.c for the library of scenes.
source "$(dirname "$0")/common.sh"

check() {
  python3 - "$1" <<'PYTHON'
import glob, os, re, sys

root = sys.argv[1]
headers = sorted(glob.glob(os.path.join(root, "include/flotsam/*.h")))
tests = sorted(glob.glob(os.path.join(root, "tests/input/test_public_*.c")) +
               glob.glob(os.path.join(root, "tests/support/*.h")))
called = set()
for path in tests:
    called |= set(re.findall(r"\b(flo_\w+)\(", open(path, encoding="utf-8").read()))
is_bad, n = False, 0
for path in headers:
    text = open(path, encoding="utf-8").read()
    for declaration in re.findall(r"^FLO_API\b[^;]*;", text, re.MULTILINE):
        name = re.search(r"\b(flo_\w+)\(", declaration).group(1)
        n += 1
        if name not in called:
            print(f"FAILED: {os.path.relpath(path, root)}: {name} is not called in tests/input/test_public_*.c")
            is_bad = True
print(f"{n} public functions")
sys.exit(is_bad or n == 0)
PYTHON
}

new_tree
printf 'FLO_API void flo_a(int\n x);\nFLO_API int *flo_b(void); // flo_c(1)\n' | write include/flotsam/a.h
printf 'int main(void) { flo_a(1); flo_b(); }\n' | write tests/input/test_public_functions.c
expect_pass
printf 'int main(void) { flo_a(1); }\n' | write tests/input/test_public_functions.c
expect_fault "include/flotsam/a.h: flo_b is not called"

finish
