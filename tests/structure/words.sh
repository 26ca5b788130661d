# Comments, strings and documentation call things "it", "they", "each" or "every", never "who", "whom" or "whoever".
source "$(dirname "$0")/common.sh"

# Folders and files that are not yet clean. Remove a line once its place is.
later=()

check() {
  python3 - "$1" "${later[@]}" <<'PYTHON'
import re, sys
import source

WORDS = re.compile(r"\b(who|whom|whoever)\b", re.IGNORECASE)
root, later = sys.argv[1], sys.argv[2:]


def faults(path):
    """(line, text) of every line of prose with such a word."""
    text = source.read(root, path)
    prose = source.parts(text, "comment", "string") if path.endswith((".c", ".h")) else [(1, text)]
    for first, part in prose:
        for k, line in enumerate(part.split("\n")):
            if WORDS.search(line):
                yield first + k, line.strip()


is_bad = False
clean = set(later)
for path in source.files(root, ["src", "include", "app", "docs", "README.md"], (".c", ".h", ".md")):
    excuses = {place for place in later if path == place or path.startswith(place + "/")}
    for line, text in faults(path):
        clean -= excuses
        if not excuses:
            print(f"FAILED: {path}:{line}: {text}")
            is_bad = True
if clean:
    print("clean by now; remove from the list in tests/structure/words.sh:", *sorted(clean))
sys.exit(is_bad)
PYTHON
}

new_tree
echo 'int who = 1; // The whole wholesale.' | write src/base/a.c
expect_pass
printf 'int a; /* A comment\n   for whoever reads it. */\n' | write src/base/b.h
expect_fault 'src/base/b.h:2: for whoever reads it.'
new_tree
echo 'const char *text = "to whom it belongs";' | write include/flotsam/b.h
expect_fault 'include/flotsam/b.h:1: "to whom it belongs"'
new_tree
printf 'Title\n\nParticles who swim.\n' | write README.md
expect_fault 'README.md:3: Particles who swim.'
echo 'Particles who swim.' | write docs/files.md
expect_fault 'docs/files.md:1: Particles who swim.'

finish
