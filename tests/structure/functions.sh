# Functions are short: half of them have at most 9 lines, nine of ten at most 20, none more than 50. The length of a
# function is the number of lines between its braces.
source "$(dirname "$0")/common.sh"

check() {
  python3 - "$1" <<'PYTHON'
import statistics, sys
import source

MOST_MEDIAN, MOST_USUAL, USUAL_SHARE, MOST = 9, 20, 0.9, 50
root = sys.argv[1]
found = [(n_lines, f"{path}:{line}: {name}")
         for path in source.files(root, ["src", "include", "app"])
         for name, line, n_lines in source.functions(source.read(root, path))]
found.sort(reverse=True)
lengths = [n_lines for n_lines, _ in found]
if not lengths:
    sys.exit("no functions found")
median = statistics.median(lengths)
share = sum(n_lines <= MOST_USUAL for n_lines in lengths) / len(lengths)
faults = []
if median > MOST_MEDIAN:
    faults.append(f"the median length is {median:g} lines; at most {MOST_MEDIAN} are allowed")
if share < USUAL_SHARE:
    faults.append(f"{100 * share:.1f} % of the functions have at most {MOST_USUAL} lines; "
                  f"{100 * USUAL_SHARE:g} % are required")
if lengths[0] > MOST:
    faults.append(f"{sum(n > MOST for n in lengths)} functions have more than {MOST} lines; split them")
print(f"{len(lengths)} functions: median {median:g} lines, {100 * share:.1f} % up to {MOST_USUAL}, longest {lengths[0]}")
for fault in faults:
    print("FAILED:", fault)
if faults:
    print("longest functions:", *(f"  {where}: {n_lines} lines" for n_lines, where in found[:12]), sep="\n")
sys.exit(bool(faults))
PYTHON
}

# lines N: a body of N lines.
lines() { for ((k = 0; k < $1; k++)); do echo '  work();'; done; }
# short N: N functions of one line.
short() { for ((f = 0; f < $1; f++)); do echo "static int short_$f(void) { return $f; }"; done; }

# What looks like a long function but is none: tables, types, macros, text with braces in it.
new_tree
{
  short 20
  echo 'static const int table[] = {'; for ((k = 0; k < 60; k++)); do echo '  f(1),'; done; echo '};'
  echo 'typedef struct {'; for ((k = 0; k < 60; k++)); do echo "  int (*f$k)(void);"; done; echo '} Type;'
  echo '#define LIST(X) \'; for ((k = 0; k < 60; k++)); do echo "  X($k) { \\"; done; echo '  X(60)'
  echo 'static int braces(void) {'; echo "  return '{' + \"{{\"[0]; // {"; echo '}'
} | write src/a.c
expect_pass

# A function with a head of several lines, braces inside and branches of the preprocessor.
new_tree
{
  short 20
  echo 'static FloStatus long_one(const char *a,'; echo '                          int b) {'
  echo '#ifdef A'; echo '  if (a) {'; echo '#else'; echo '  if (b) {'; echo '#endif'; lines 50; echo '  }'; echo '}'
  short 1
} | write app/a.c
expect_fault "1 functions have more than 50 lines" "app/a.c:21: long_one: 56 lines"

new_tree
{
  echo '#ifdef __cplusplus'; echo 'extern "C" {'; echo '#endif'
  short 20
  echo 'static inline int (*choose(int a))(void) {'; lines 51; echo '}'
  echo '#ifdef __cplusplus'; echo '}'; echo '#endif'
} | write include/flotsam/a.h
expect_fault "include/flotsam/a.h:24: choose: 51 lines"

new_tree
{ short 8; for f in a b; do echo "void $f(void) {"; lines 21; echo '}'; done; } | write include/a.h
expect_fault "80.0 % of the functions have at most 20 lines" "include/a.h:9: a: 21 lines"

new_tree
{ short 2; for f in a b c; do echo "void $f(void) {"; lines 10; echo '}'; done; } | write src/deep/a.c
expect_fault "the median length is 10 lines"

finish
