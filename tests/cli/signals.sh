# SIGINT and SIGTERM: the step is finished, all files are closed, the summary says so.
source "$(dirname "$0")/common.sh"
set -m # background jobs must not ignore SIGINT

interrupt() { # SIGNAL
  local folder=stopped-$1
  "$flotsam" run tiny.json --until 100000 --no-picture --out "$folder" >out 2>err &
  local job=$!
  for ((k = 0; k < 600; k++)); do
    [[ -e $folder/particles_0003.vtp ]] && break
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  kill -s "$1" "$job" || fail "the run ended before the signal"
  wait "$job"
  (($? == 1)) || fail "the exit code after $1 is not 1"
  expect_text err "interrupted at"
  expect_json "$folder/summary.json" "d['end'], d['interrupted']" "('interrupted', True)"
  expect_json "$folder/summary.json" "d['expect'][0]['pass']" None
  local frames
  frames=$(find "$folder" -name 'particles_*.vtp' | wc -l)
  (($(wc -l <"$folder/series.csv") == frames + 1)) || fail "the series and the frames differ after $1"
  (($(grep -c '<DataSet' "$folder/run.pvd") == frames)) || fail "run.pvd and the frames differ after $1"
  [[ -z $(find "$folder" -name '*.tmp') ]] || fail "temporary files were left after $1"
}

interrupt INT
interrupt TERM

# While it draws: the picture at hand is the last, and how to draw the others is told.
"$flotsam" run tiny.json --threads 1 --out drawing >out 2>err &
job=$!
for ((k = 0; k < 12000; k++)); do
  [[ -e drawing/picture_0005.png ]] && break # the last frame is drawn first
  sleep 0.01
done
kill -s STOP "$job" && n=$(find drawing -name 'picture_*.png' | wc -l)
kill -s TERM "$job" && kill -s CONT "$job" || fail "the run ended before the signal"
wait "$job"
code=$?
((code == 128 + $(kill -l STOP))) && { wait "$job"; code=$?; } # some shells tell first that it was stopped
((code == 1)) || fail "the exit code after a signal while drawing is $code"
expect_text err "interrupted while drawing; all frames are complete; draw the other "
expect_text err " with: flotsam resume 'drawing'"
expect_json drawing/summary.json "d['end'], d['frames']" "('finished', 5)"
(($(find drawing -name 'picture_*.png' | wc -l) <= n + 1)) || fail "pictures were drawn after the signal"
# That command draws what was left out, and nothing else: the same pictures as without a signal.
before=$(stat -c '%n %y' drawing/particles_* drawing/picture_0005.png drawing/series.csv drawing/summary.json)
n_left=$((5 - $(find drawing -name 'picture_*.png' | wc -l)))
expect_exit 0 "$flotsam" resume drawing
expect_text out "drawing: $n_left picture"
expect_text out "drawing: complete; continue it with --until T"
[[ $(stat -c '%n %y' drawing/particles_* drawing/picture_0005.png drawing/series.csv drawing/summary.json) == "$before" ]] ||
  fail "more was done than to draw what was missing"
expect_exit 0 "$flotsam" run tiny.json --quiet --out alone
for picture in alone/picture*.png; do
  cmp -s "$picture" "drawing/${picture#*/}" || fail "another ${picture#*/} than without a signal"
done
[[ $(ls drawing) == "$(ls alone)" ]] || fail "other files than without a signal: $(ls drawing)"
expect_exit 0 "$flotsam" resume drawing
[[ $(<out) == "drawing: complete; continue it with --until T" ]] || fail "pictures are drawn once more: $(<out)"
# Also where picture.png is what is missing, or is older than the end that it is to show.
rm drawing/picture.png
touch -d '2001-01-01' drawing/picture_0002.png
expect_exit 0 "$flotsam" resume drawing --no-picture
expect_no_file drawing/picture.png
expect_exit 0 "$flotsam" resume drawing
expect_text out "drawing: 2 pictures drawn"
cmp -s drawing/picture.png alone/picture.png || fail "picture.png is not drawn by resume"
# A run without pictures gets none. Nothing else is read than what has to be.
expect_exit 0 "$flotsam" run tiny.json --no-picture --quiet --out blind
expect_exit 0 "$flotsam" resume blind
expect_no_file blind/picture.png
rm drawing/picture_0003.png drawing/particles_0003.vtp
expect_exit 2 "$flotsam" resume drawing
expect_text err "particles_0003.vtp"
finish
