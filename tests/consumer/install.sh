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
for header in flotsam world control query joints types scenes; do
  echo "#include <flotsam/$header.h>" >"$work/one.c"
  cc -std=c17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$prefix/include" "$work/one.c" || fail "$header.h in C"
  if command -v c++ >/dev/null; then
    cp "$work/one.c" "$work/one.cpp"
    c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only "-I$prefix/include" "$work/one.cpp" || fail "$header.h in C++"
  fi
done

# Exactly the functions of the headers are visible, and the name that programs remember says which versions fit.
exported() { nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ { print $3 }' | sort; }
declared() { cat "$@" | tr '\n' ' ' | grep -o 'FLO_API [^;]*;' | grep -o '\bflo_[a-z_0-9]*(' | tr -d '(' | sort -u; }
include=$prefix/include/flotsam
exported "$library" >"$work/exported"
declared "$include"/{control,joints,query,types,world}.h >"$work/declared"
diff "$work/declared" "$work/exported" || fail "libflotsam exports other functions than its headers declare"
exported "${library%.so}-scenes.so" >"$work/exported"
declared "$include"/*.h >"$work/declared"
diff "$work/declared" "$work/exported" || fail "libflotsam-scenes exports other functions than the headers declare"
for name in flotsam flotsam-scenes; do
  readelf -d "$(dirname "$library")/lib$name.so" | grep -q "soname: \[lib$name\.so\.[0-9]*\(\.[0-9]*\)\?\]" ||
    fail "lib$name has no soname"
done

# Worlds need the C library, libm and the runtime of OpenMP (and of sanitizers, if there are any) only.
ldd "$library" | awk '{ print $1 }' | grep -vE '^(linux-vdso|libc|libm|libgomp|libomp|libasan|libubsan|libpthread|libdl|librt)\.so|ld-linux|^libgcc_s' |
  tee "$work/others"
[[ ! -s $work/others ]] || fail "libflotsam links more than libc, libm and OpenMP"

# A program that loads a scene, with the second library.
cat >"$work/scenes.c" <<'C'
#include <flotsam/scenes.h>
#include <stdio.h>
int main(int n, char **words) {
  FloError error = {0};
  FloScene *scene = NULL;
  FloWorld *world = NULL;
  const FloSceneOptions draft = {.size = "draft"};
  FloStatus status = n < 2 ? FLO_BAD_INPUT : flo_scene_load(words[1], &draft, &scene, &error);
  if (!status) status = flo_scene_build(scene, &world, &error);
  if (!status) status = flo_scene_advance(scene, world, 0.01, NULL, &error);
  if (!status) printf("%zu particles\n", flo_world_count(world, FLO_SET_FLUID));
  fputs(error.text, stderr);
  flo_world_destroy(world);
  flo_scene_destroy(scene);
  return status != FLO_OK;
}
C
flags=$(PKG_CONFIG_PATH=$packages pkg-config --cflags --libs flotsam-scenes) || fail "pkg-config flotsam-scenes"
eval cc -std=c17 -Wall -Wextra -Wpedantic -Werror '"$work/scenes.c"' -o '"$work/scenes"' "$flags" &&
  LD_LIBRARY_PATH=$(dirname "$library") "$work/scenes" "$prefix/share/flotsam/scenes/dam-break.json" ||
  fail "a program with libflotsam-scenes"

for file in doc/flotsam/LICENSE doc/flotsam/README.md doc/flotsam/docs/scenes.md flotsam/scene.schema.json man/man1/flotsam.1; do
  [[ -s $prefix/share/$file ]] || fail "share/$file is not installed"
done

(cd "$work" && "$prefix/bin/flotsam" run dam-break --size draft --frames 1 --no-picture --quiet --out run) ||
  fail "the installed program"
[[ -s $work/run/summary.json ]] || fail "the installed program wrote no summary"
((n_failed == 0))
