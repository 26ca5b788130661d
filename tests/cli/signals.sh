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

# While it draws, or shortly before: all frames are complete, and resume draws the picture if it is missing.
"$flotsam" run tiny.json --threads 1 --out drawing >out 2>err &
job=$!
for ((k = 0; k < 12000; k++)); do
  [[ -e drawing/particles_0005.vtp ]] && break
  sleep 0.01
done
kill -s TERM "$job" || fail "the run ended before the signal"
wait "$job"
code=$?
if [[ -e drawing/picture.png ]]; then
  ((code == 0)) || fail "the exit code of a run that has drawn its picture is $code"
else
  ((code == 1)) || fail "the exit code after a signal before the picture is $code"
  expect_text err "interrupted before the picture; all frames are complete; draw it with: flotsam resume 'drawing'"
fi
expect_json drawing/summary.json "d['end'], d['frames']" "('finished', 5)"
# That command draws the picture, and nothing else: the same as without a signal.
rm -f drawing/picture.png
state_of() { stat -c '%n %y' drawing/particles_* drawing/series.csv drawing/summary.json; }
before=$(state_of)
expect_exit 0 "$flotsam" resume drawing
expect_text out "picture  drawing/picture.png"
expect_text out "drawing: complete; continue it with --until T"
[[ $(state_of) == "$before" ]] || fail "more was done than to draw what was missing"
expect_exit 0 "$flotsam" run tiny.json --quiet --out alone
cmp -s alone/picture.png drawing/picture.png || fail "another picture than without a signal"
[[ $(ls drawing) == "$(ls alone)" ]] || fail "other files than without a signal: $(ls drawing)"
expect_exit 0 "$flotsam" resume drawing
[[ $(<out) == "drawing: complete; continue it with --until T" ]] || fail "the picture is drawn once more: $(<out)"
# Also if it is older than the end that it is to show.
touch -d '2001-01-01' drawing/picture.png
expect_exit 0 "$flotsam" resume drawing --no-picture
expect_exit 0 "$flotsam" resume drawing
expect_text out "picture  drawing/picture.png"
cmp -s drawing/picture.png alone/picture.png || fail "picture.png is not drawn by resume"
# A run without pictures gets none. Nothing else is read than what has to be.
expect_exit 0 "$flotsam" run tiny.json --no-picture --quiet --out blind
expect_exit 0 "$flotsam" resume blind
expect_no_file blind/picture.png
rm drawing/picture.png drawing/particles_0005.vtp
expect_exit 2 "$flotsam" resume drawing
expect_text err "particles_0005.vtp"
finish
