# The Python package: its declarations agree with the headers, and its wheel works in an environment of its own.
set -u
export PYTHONDONTWRITEBYTECODE=1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
build=$(cd "$1" && pwd -P)
python=/usr/bin/python3
if ! "$python" -c 'import numpy, venv, ensurepip' 2>/dev/null; then
  echo "skipped: $python lacks numpy or venv"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

# Structs, enumerations and functions are those of the headers; a header that cannot be read is an error.
"$python" "$root/python/make_bindings.py" "$root/include/flotsam" >"$work/_abi.py" || fail "no bindings"
cat "$root"/include/flotsam/*.h >"$work/all.h"
"$python" "$root/tests/python/layout.py" "$work/_abi.py" "$work/all.h" >"$work/layout.c" || fail "the headers have other things"
cc -std=c17 -Wall -I "$root/include" "$work/layout.c" -o "$work/layout" && "$work/layout" || fail "the layouts differ"
sed 's/("gravity", c_double \* 3)/("gravity", c_double * 2)/' "$work/_abi.py" >"$work/wrong.py"
"$python" "$root/tests/python/layout.py" "$work/wrong.py" "$work/all.h" >"$work/wrong.c"
cc -std=c17 -I "$root/include" "$work/wrong.c" -o "$work/wrong" && "$work/wrong" >"$work/out" && fail "a wrong struct is not found"
grep -q "FloWorldDef.gravity" "$work/out" || fail "the wrong member is not named: $(<"$work/out")"
mkdir "$work/odd" && cp "$root"/include/flotsam/*.h "$work/odd" && echo 'union FloOdd { int a; };' >>"$work/odd/types.h"
"$python" "$root/python/make_bindings.py" "$work/odd" >/dev/null 2>"$work/err" && fail "an unknown declaration is left out"
grep -q "types.h: cannot read 'union FloOdd" "$work/err" || fail "the unknown declaration is not named: $(<"$work/err")"

# The wheel does not depend on when it is built. It is installed without any index.
wheel=$("$python" "$root/python/build_wheel.py" "$build" --out "$work/wheel") || fail "no wheel"
again=$("$python" "$root/python/build_wheel.py" "$build" --out "$work/again")
cmp -s "$wheel" "$again" || fail "the same build gives another wheel"
"$python" -m venv --system-site-packages "$work/venv" || fail "no environment"
"$work/venv/bin/pip" install --no-index --no-deps -q "$wheel" || fail "the wheel cannot be installed"
mkdir "$work/run"
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$root/tests/python/package.py" "$work/run" "$root/CMakeLists.txt" ||
  fail "the package does not do what it should"

# Worlds need libflotsam only, without the libraries that scenes need.
rm "$work"/venv/lib/python3*/site-packages/flotsam/lib/libflotsam-scenes.so
"$work/venv/bin/python" -c '
import flotsam as fl
world = fl.World(spacing=0.1)
world.step()
try:
    fl.Scene("dam-break")
    raise SystemExit("a scene without the library of scenes")
except fl.Unsupported as error:
    assert "libflotsam-scenes" in str(error), error' || fail "worlds alone"
