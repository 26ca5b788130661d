# The installed tree from the outside: a program built against it both ways and run, what the library exports, the
# installed program with its scenes. Called with the build folder and cmake.
set -u
build=$1 cmake=$2
here=$(cd "$(dirname "$0")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/installed here"
n_failed=0
fail() {
  printf 'FAILED: %s\n' "$*"
  n_failed=$((n_failed + 1))
}

"$cmake" --install "$build" --prefix "$prefix" >"$work/log" 2>&1 || { cat "$work/log"; fail "install"; }
library=$(find "$prefix" -name libflotsam.so)
packages=$(dirname "$library")/pkgconfig

# The program in the README is the one that is built here.
readme=$(sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | sed '/^```/d')
[[ $readme == "$(cat "$here/main.c")" ]] || fail "README.md and $here/main.c show different programs"

mkdir "$work/with-cmake"
cp "$here/CMakeLists.txt" "$here/main.c" "$work/with-cmake"
if "$cmake" -S "$work/with-cmake" -B "$work/with-cmake/build" "-DCMAKE_PREFIX_PATH=$prefix" >"$work/log" 2>&1 &&
  "$cmake" --build "$work/with-cmake/build" >>"$work/log" 2>&1; then
  "$work/with-cmake/build/consumer" >"$work/cmake.txt" || fail "the program built by cmake"
else
  cat "$work/log"
  fail "building with find_package"
fi

# pkg-config escapes the spaces in the path for a shell.
flags=$(PKG_CONFIG_PATH=$packages pkg-config --cflags --libs flotsam) || fail "pkg-config"
if eval cc -std=c17 -Wall -Wextra -Wpedantic -Werror '"$here/main.c"' -o '"$work/with-pkg-config"' "$flags"; then
  LD_LIBRARY_PATH=$(dirname "$library") "$work/with-pkg-config" >"$work/pkg-config.txt" ||
    fail "the program built by pkg-config"
else
  fail "building with pkg-config"
fi
cat "$work/cmake.txt"
grep -q '^0.20 s ' "$work/cmake.txt" || fail "the program did not reach 0.2 s"
cmp -s "$work/cmake.txt" "$work/pkg-config.txt" || fail "both ways give different results"

# Headers stand alone, in C and, where there is a compiler, in C++.
for header in flotsam world control query joints types; do
  echo "#include <flotsam/$header.h>" >"$work/one.c"
  cc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$prefix/include" "$work/one.c" || fail "$header.h in C"
  if command -v c++ >/dev/null; then
    cp "$work/one.c" "$work/one.cpp"
    c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only "-I$prefix/include" "$work/one.cpp" || fail "$header.h in C++"
  fi
done

# Exactly the functions of the header are visible, and the name that programs remember has the major version only.
nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ { print $3 }' | sort >"$work/exported"
grep '^FLO_API' "$prefix/include/flotsam/flotsam.h" | grep -o 'flo_[a-z_0-9]*(' | tr -d '(' | sort -u >"$work/declared"
diff "$work/declared" "$work/exported" || fail "the library exports other functions than flotsam.h declares"
readelf -d "$library" | grep -q 'soname: \[libflotsam\.so\.[0-9]*\]' || fail "the library has no soname"

(cd "$work" && "$prefix/bin/flotsam" run dam-break --size draft --frames 1 --no-picture --quiet --out run) ||
  fail "the installed program"
[[ -s $work/run/summary.json ]] || fail "the installed program wrote no summary"
((n_failed == 0))
