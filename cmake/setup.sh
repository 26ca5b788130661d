# Shared by ./run and ./test: packages and the build. Sourced with `root` set to the source tree.

build_packages=(build-essential cmake ninja-build pkg-config libjansson-dev libexpat1-dev libhdf5-dev libpng-dev zlib1g-dev libembree-dev)
test_packages=("${build_packages[@]}" clang clang-format libcmocka-dev libomp-dev libassimp-dev python3 python3-jsonschema)
# Programs that only look at what flotsam writes; tests that need them are skipped where they are missing.
viewer_packages=(ffmpeg mandoc python3-numpy python3-venv python3-vtk9 blender)

say() { printf '%s\n' "$*" >&2; }

# Installs what is missing of the packages given, on Debian and its relatives; elsewhere only says what is needed. Never
# ends the script: the build may work all the same, with libraries from another source.
install_packages() {
  local package missing=() become=()
  if ! command -v dpkg >/dev/null || ! command -v apt-get >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && return
    say "Flotsam needs a C17 compiler with OpenMP, cmake, ninja, pkg-config and the development files of jansson,"
    say "expat, HDF5, libpng, zlib and Embree 3; its tests also need clang, clang-format, libomp, cmocka and python3."
    return
  fi
  for package in "$@"; do
    dpkg -s "$package" 2>/dev/null | grep -q '^Status: .* installed$' || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if (($(id -u) != 0)); then
    if ! command -v sudo >/dev/null; then
      say "Missing packages; ask an administrator for: apt-get install ${missing[*]}"
      return
    fi
    become=(sudo)
  fi
  say "Installing ${missing[*]}"
  "${become[@]}" apt-get update -q >&2 || true
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2 ||
    say "Could not install them all; trying to go on without."
}

# build FOLDER [cmake options]: configures and builds everything, or $target; prints the output only if that fails.
build() {
  local folder=$1 log
  shift
  mkdir -p "$folder"
  log=$folder/build.log
  local fresh=()
  # A folder that was configured elsewhere, for instance before the tree was moved, is of no use here.
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    fresh=(--fresh)
  fi
  if ! { cmake -S "$root" -B "$folder" -G Ninja "${fresh[@]}" "$@" && cmake --build "$folder" ${target:+--target "$target"}; } >"$log" 2>&1; then
    cat "$log" >&2
    say "The build in $folder failed; its output is above and in $log."
    return 1
  fi
}
