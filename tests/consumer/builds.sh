# Builds with less: the library alone needs nothing but a C compiler, pictures can be left out, and the code for Embree 4
# compiles. Called with the build folder and cmake. With FLOTSAM_FULL=1 each of them is built, not only configured.
set -u
cmake=$2
root=$(cd "$(dirname "$0")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_failed=0
fail() {
  printf 'FAILED: %s\n' "$*"
  n_failed=$((n_failed + 1))
}

# configure NAME options...: the build of that name, without tests.
configure() {
  local name=$1
  shift
  "$cmake" -S "$root" -B "$work/$name" -G Ninja -DFLOTSAM_TESTS=OFF "$@" >"$work/$name.log" 2>&1 ||
    { tail -20 "$work/$name.log"; fail "$name is not configured"; }
  [[ -n ${FLOTSAM_FULL:-} ]] || return 0
  "$cmake" --build "$work/$name" >"$work/$name.log" 2>&1 || { tail -20 "$work/$name.log"; fail "$name is not built"; }
}

# Alone it must not even look for the others: pkg-config finds nothing here.
PKG_CONFIG_LIBDIR=$work PKG_CONFIG_PATH=$work configure library -DFLOTSAM_PROGRAM=OFF -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON -DCMAKE_DISABLE_FIND_PACKAGE_embree=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
! grep -q -- '-Werror' "$work/library/build.ninja" || fail "a build without tests treats warnings as errors"
configure no-pictures -DFLOTSAM_PICTURES=OFF
! grep -q 'embree' "$work/no-pictures/build.ninja" || fail "a build without pictures uses Embree"
configure no-embree -DCMAKE_DISABLE_FIND_PACKAGE_embree=ON
grep -q 'tracer_none' "$work/no-embree/build.ninja" || fail "without Embree there should be no pictures"
configure with-ndebug -DCMAKE_C_FLAGS=-DNDEBUG

for compiler in cc clang; do
  command -v "$compiler" >/dev/null || continue
  "$compiler" -std=c17 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -fsyntax-only -DFLO_EMBREE=4 "-I$root/src" \
    "-I$root/include" "-I$root/tests/consumer/embree4" "$root/src/render/tracer.c" || fail "Embree 4 by $compiler"
done
((n_failed == 0))
