# Runs that fail: divergence, places that cannot be written, full disks.
source "$(dirname "$0")/common.sh"

# A time step far too long: the frame at which it went wrong is written and named.
expect_exit 1 "$flotsam" run tiny.json --set time_step=0.05 --out diverged
expect_text err "flotsam: at "
expect_text err "tiny.json: /time_step: 0.05 s is fixed"
expect_json diverged/summary.json "d['end'], d['diverged'], d['message'] is not None" "('diverged', True, True)"
frames=$(find diverged -name 'particles_*.vtp' | wc -l)
(($(wc -l <diverged/series.csv) == frames + 1)) || fail "the series and the frames differ"
expect_file diverged/picture.png
expect_text diverged/log.txt "exit code 1"

echo text >file
expect_exit 2 "$flotsam" run tiny.json --out file
expect_text err "file: is a file, not a folder"
expect_exit 2 "$flotsam" run tiny.json --out file/below
expect_text err "file/below: 'file' is a file, not a folder"
expect_exit 2 "$flotsam" run tiny.json --out ""
expect_text err "--out: the name is empty"
expect_exit 2 "$flotsam" run tiny.json --out "$(printf '%0300d' 1)"
expect_text err "cannot create this folder: File name too long"
expect_exit 2 "$flotsam" run tiny.json --out "$(printf '%05000d' 1)"
expect_text err "path too long"

locked=/proc/flotsam
if (($(id -u) != 0)); then
  mkdir locked
  chmod 555 locked
  locked=$PWD/locked/run
fi
expect_exit 2 "$flotsam" run tiny.json --out "$locked"
expect_text err "$locked: "
grep -q 'cannot create this folder\|cannot be written' err || fail "another reason: $(<err)"

# A limit on the size of files stands for a full disk: particles do not fit, nothing half-written stays.
(
  trap '' XFSZ
  ulimit -f 4
  "$flotsam" run tiny.json --set spacing=0.01 --frames 2 --no-picture --out full >out 2>err
)
(($? == 1)) || fail "a full disk went unnoticed"
expect_text err "full/checkpoint.h5: cannot write: File too large"
[[ -z $(find full -name '*.tmp' -o -name '*.vtp') ]] || fail "half a file was left"
expect_json full/summary.json "d['end']" failed

# ---- A frame that cannot be written, though checkpoints can: all files end with the frame before, and it can go on ----

"$flotsam" run tiny.json --frames 600 --no-picture --quiet --checkpoint 0 --out gap >out 2>err &
job=$!
for ((k = 0; k < 600; k++)); do
  [[ -e gap/particles_0000.vtp ]] && break
  sleep 0.02
done
mkdir gap/particles_0300.vtp || fail "there was no run to get in the way of"
wait "$job"
(($? == 1)) || fail "a frame that was not written went unnoticed"
expect_text err "gap/particles_0300.vtp: cannot write: Is a directory"
(($(wc -l <err) == 1)) || fail "more than one error: $(<err)"
expect_json gap/summary.json "d['end'], 'particles_0300' in d['message']" "('failed', True)"
# whole_to FOLDER N: frames, rows and the list end with frame N - 1, with whole rows.
whole_to() {
  (($(find "$1" -name 'particles_*.vtp' -type f | wc -l) == $2)) || fail "$1: not $2 frames"
  (($(wc -l <"$1/series.csv") == $2 + 1)) || fail "$1: series.csv has $(wc -l <"$1/series.csv") lines, not $2 and names"
  (($(wc -l <"$1/bodies.csv") == $2 + 1)) || fail "$1: bodies.csv has $(wc -l <"$1/bodies.csv") lines, not $2 and names"
  (($(grep -c '<DataSet' "$1/run.pvd") == $2)) || fail "$1: run.pvd names $(grep -c '<DataSet' "$1/run.pvd") frames"
  [[ -z $(tail -c 1 "$1/series.csv") && -z $(tail -c 1 "$1/bodies.csv") ]] || fail "$1: half a row"
  [[ -z $(find "$1" -name '*.tmp') ]] || fail "$1: half a file was left"
}
whole_to gap 300
rmdir gap/particles_0300.vtp
expect_exit 0 "$flotsam" resume gap --frames 310 --quiet
expect_exit 0 "$flotsam" run tiny.json --frames 310 --no-picture --quiet --out without
[[ $(json gap/summary.json "d['state_hash']") == "$(json without/summary.json "d['state_hash']")" ]] ||
  fail "another state after a frame that could not be written"
cmp -s gap/bodies.csv without/bodies.csv || fail "another bodies.csv after a frame that could not be written"

# ---- Rows that do not fit the disk, in the middle of a row ----

sed 's/"name": "tank"/"name": "tank-with-a-name-that-makes-rows-long"/; s/"duration": 0.1/"duration": 100/' tiny.json >long.json
for limit in 160 161; do
  (
    trap '' XFSZ
    ulimit -f $limit
    "$flotsam" run long.json --no-picture --quiet --out "rows$limit" >out 2>err
  )
  (($? == 1)) || fail "a full disk went unnoticed"
  grep -q 'series.csv: cannot write: File too large\|bodies.csv: cannot write: File too large' err || fail "another failure: $(<err)"
  whole_to "rows$limit" "$(find "rows$limit" -name 'particles_*.vtp' | wc -l)"
done
finish
