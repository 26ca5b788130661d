# The ten programs of docs/library.md are compiled against the headers and the libraries of the build, and say what they
# should. Called with the build folder and cmake.
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd -P)
root=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_failed=0
fail() {
  printf 'FAILED: %s\n' "$*"
  n_failed=$((n_failed + 1))
}

# What each program prints, as an expression for grep.
expected=(
  "the cube floats at 0.1[4-9] m"
  "1.000 kg: pushed by 0.500 N s, it moves at 0.5[0-9]* m/s and turns at -1[0-9.]* rad/s"
  "turns at 3.00 rad/s, then at -2.00 rad/s; the motor has worked [0-9.]* J"
  "its middle hangs at 0.[0-9] m, then at 0.[0-9] m by 1 pin; [0-9]* triangles"
  "the ray meets the cube at 0.1[0-9]* m; the nearest surface is 0.[0-9]* m away; cube presses on the floor"
  "the replay has the same bits"
  "[0-9.]* MB, [0-9]* more allocations while it runs, 0 bytes left"
  "the light cube is at 0.[12][0-9] m, the heavy one at 0.0[4-6] m"
  "[0-9]* triangles around 2[1-6].[0-9] litres"
  "the cube hovers at 0.30 m"
)

# The first block is first.h, and then there is one for each program.
python3 - "$root/docs/library.md" "$work" <<'PYTHON'
import re, sys
blocks = re.findall(r"^```c\n(.*?)^```$", open(sys.argv[1], encoding="utf-8").read(), re.MULTILINE | re.DOTALL)
names = ["first.h"] + [f"program{k}.c" for k in range(1, len(blocks))]
for name, block in zip(names, blocks):
    open(f"{sys.argv[2]}/{name}", "w", encoding="utf-8").write(block)
PYTHON
n=$(ls "$work"/program*.c | wc -l)
((n == ${#expected[@]})) || fail "docs/library.md has $n programs, but ${#expected[@]} are expected"

# Libraries with sanitizers need a program with them, so that these builds only see whether the programs compile.
flags=(-std=c17 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror "-I$root/include" "-I$work" "-L$build/lib")
for ((k = 1; k <= n; k++)); do
  library=flotsam
  grep -q 'flotsam/scenes.h' "$work/program$k.c" && library=flotsam-scenes
  cc "${flags[@]}" "$work/program$k.c" -o "$work/program$k" "-l$library" -lpthread "-Wl,-rpath,$build/lib" \
    ${FLOTSAM_SLOW:+-Wl,--allow-shlib-undefined} || { fail "program $k does not compile"; continue; }
  [[ -n ${FLOTSAM_SLOW:-} ]] && continue
  (cd "$work" && "./program$k") >"$work/out" || fail "program $k ends with an error"
  grep -qx -- "${expected[k - 1]}" "$work/out" || fail "program $k: expected '${expected[k - 1]}'"
  cat "$work/out"
done
((n_failed == 0))
