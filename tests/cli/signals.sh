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
expect_text err "interrupted while drawing; all frames are there, and "
expect_text err "flotsam render 'drawing' --frames :"
expect_json drawing/summary.json "d['end'], d['frames']" "('finished', 5)"
(($(find drawing -name 'picture_*.png' | wc -l) <= n + 1)) || fail "pictures were drawn after the signal"
expect_exit 0 "$flotsam" resume drawing
expect_text out "complete"
finish
