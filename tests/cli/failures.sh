# Runs that fail: divergence, places that cannot be written, full disks.
source "$(dirname "$0")/common.sh"

# A time step far too long: the frame at which it went wrong is written and named.
expect_exit 1 "$flotsam" run tiny.json --set time_step=0.05 --out diverged
expect_text err "flotsam: at "
expect_json diverged/summary.json "d['end'], d['diverged'], d['message'] is not None" "('diverged', True, True)"
frames=$(find diverged -name 'particles_*.vtp' | wc -l)
(($(wc -l <diverged/series.csv) == frames + 1)) || fail "the series and the frames differ"
expect_file diverged/picture.png
expect_text diverged/log.txt "exit code 1"

echo text >file
expect_exit 2 "$flotsam" run tiny.json --out file
expect_text err "file: is a file, not a folder"
expect_exit 1 "$flotsam" run tiny.json --out file/below
expect_text err "file"

locked=/proc/flotsam
if (($(id -u) != 0)); then
  mkdir locked
  chmod 555 locked
  locked=$PWD/locked/run
fi
expect_exit 1 "$flotsam" run tiny.json --out "$locked"
expect_text err "$locked: cannot make this folder"

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
finish
