# The examples of the Python package run to their end, which they check themselves, from the sources and the build.
set -u
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
build=$(cd "$1" && pwd -P)
python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
  echo "skipped: $python lacks numpy"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=$("$python" "$root/python/build_wheel.py" "$build" --out "$work") || exit 1
"$python" -m zipfile -e "$wheel" "$work/package" && chmod +x "$work/package/flotsam/bin/flotsam" || exit 1
export PYTHONPATH=$work/package
cd "$work" || exit 1

# example NAME FILE...: it runs, and writes the files.
example() {
  local file name=$1
  shift
  "$python" "$root/python/examples/$name.py" >out || { echo "FAILED: $name"; exit 1; }
  cat out
  for file in "$@"; do [[ -s $file ]] || { echo "FAILED: $name wrote no $file"; exit 1; }; done
}
example parameter_study front.svg
example custom_force wind.png
example data_set_writer splashes/splash_0002.npz
example boat_controller boat.svg boat.png
grep -Eq 'the boat is 0\.(0|1|2[0-5])' out || { echo "FAILED: the boat is not at its goal"; exit 1; }
example reading_a_run max_speed.svg frame.png
