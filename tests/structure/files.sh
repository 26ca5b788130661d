# Files are short: at most 600 lines in src, include and app, at most 800 in tests.
source "$(dirname "$0")/common.sh"

check() {
  python3 - "$1" <<'PYTHON'
import sys
import source

root = sys.argv[1]
is_bad = False
for most, folders in ((600, ["src", "include", "app"]), (800, ["tests"])):
    for path in source.files(root, folders, (".c", ".h", ".sh", ".py")):
        n_lines = source.read(root, path).count("\n")
        if n_lines > most:
            print(f"FAILED: {path} has {n_lines} lines; at most {most} are allowed")
            is_bad = True
sys.exit(is_bad)
PYTHON
}

new_tree
seq 600 | write src/deep/a.c
seq 800 | write tests/unit/test_a.c
expect_pass
seq 601 | write app/b.h
expect_fault "app/b.h has 601 lines; at most 600 are allowed"
new_tree
seq 801 | write tests/cli/a.sh
expect_fault "tests/cli/a.sh has 801 lines; at most 800 are allowed"

finish
