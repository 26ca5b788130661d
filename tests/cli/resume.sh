# Interrupted, killed and extended runs go on to the same bits as one that was left alone.
source "$(dirname "$0")/common.sh"
set -m # background jobs must not ignore SIGINT
# Coarser than elsewhere: many runs, each short.
sed 's/"spacing": 0.02/"spacing": 0.03/' "$here/lively.json" >lively.json

hash_of() { grep '"state_hash"' "$1/summary.json"; }

# same_run FOLDER: everything but the wall clock is as in the run that was left alone.
same_run() {
  [[ $(hash_of "$1") == "$expected" ]] || fail "$1: another state than without interruption"
  cmp -s "$1/bodies.csv" whole/bodies.csv || fail "$1: another bodies.csv"
  [[ $(without_wall_seconds "$1") == "$(without_wall_seconds whole)" ]] || fail "$1: another series.csv"
  [[ $(ls "$1") == "$(ls whole)" ]] || fail "$1: other files"
  local frame
  for frame in whole/particles_*.vtp whole/run.pvd; do
    cmp -s "$frame" "$1/${frame#*/}" || fail "$1: another ${frame#*/}"
  done
}

without_wall_seconds() {
  awk -F, -v OFS=, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "wall_seconds") wall = k; if (!wall) exit 1 } { $wall = ""; print }' \
    "$1/series.csv" || fail "$1: no wall_seconds"
}

began=$(date +%s%N)
expect_exit 0 "$flotsam" run lively.json --no-picture --quiet --out whole
took=$((($(date +%s%N) - began) / 1000000))
expected=$(hash_of whole)
rm -f whole/*.tmp

# ---- Killed at six random moments, each time with another number of threads ----

seconds() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }

# timeout kills itself along with the run, which may still have to come back from the disk before it is gone.
await_death() { # FOLDER
  local n
  for ((n = 0; n < 500; n++)); do
    "$flotsam" info "$1" --json 2>/dev/null | grep -q '"end": "running"' || return
    sleep 0.02
  done
}

RANDOM=20
for ((k = 0; k < 6; k++)); do
  moment=$((RANDOM % (took + took / 10) + 20))
  timeout -s KILL "$(seconds $moment)" \
    "$flotsam" run lively.json --no-picture --quiet --checkpoint 0 --out "killed$k" >/dev/null 2>&1
  await_death "killed$k"
  if [[ ! -e killed$k/checkpoint.h5 ]]; then # before there was anything to go on from
    [[ ! -e killed$k ]] || expect_exit 2 "$flotsam" resume "killed$k"
    expect_exit 0 "$flotsam" run lively.json --no-picture --quiet --force --out "killed$k"
  fi
  # And once more on the way.
  timeout -s KILL "$(seconds $((took / 4 + 20)))" "$flotsam" resume "killed$k" --quiet --checkpoint 0 >/dev/null 2>&1
  await_death "killed$k"
  expect_exit 0 "$flotsam" resume "killed$k" --quiet --threads $((k % 3 + 1))
  same_run "killed$k"
  rm -rf "killed$k"
done

# ---- Interrupted ----

"$flotsam" run lively.json --no-picture --quiet --out stopped >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  [[ -e stopped/particles_0001.vtp ]] && break
  sleep 0.01
done
# It stands still while others look at it, and cannot end before the signals, however busy the machine is.
kill -s STOP "$job" || fail "the run ended before the signal"
expect_exit 2 "$flotsam" resume stopped
expect_text err "another flotsam is running in this folder"
kill -s USR1 "$job" && kill -s INT "$job" && kill -s CONT "$job"
wait "$job"
code=$?
((code == 128 + $(kill -l STOP))) && { wait "$job"; code=$?; } # some shells tell first that it was stopped
expect_text stopped/log.txt "checkpoint at"
((code == 1)) || fail "the exit code of an interrupted run is not 1"
expect_exit 0 "$flotsam" info stopped
expect_text out "flotsam resume 'stopped'"
expect_exit 0 "$flotsam" resume stopped --quiet --threads 1
same_run stopped
expect_exit 0 "$flotsam" resume stopped
expect_text out "stopped: complete; continue it with --until T"
expect_empty err
# Whatever became of the scene beside it, and that is told.
cp -r stopped damaged
echo '{ not a scene' >damaged/scene.json
expect_exit 0 "$flotsam" resume damaged
expect_text out "damaged: complete; continue it with --until T"
expect_text err "damaged/scene.json is not what the run wrote; write it again with: flotsam resume damaged --until T"
rm damaged/scene.json
expect_exit 0 "$flotsam" resume damaged
expect_text err "damaged/scene.json is missing"
expect_exit 0 "$flotsam" resume damaged --until 0.42 --quiet
expect_text damaged/scene.json "A lively puddle"

# ---- Made longer: first a part, then the rest, is the same as all at once ----

expect_exit 0 "$flotsam" run lively.json --until 0.2 --no-picture --quiet --out parts
expect_exit 0 "$flotsam" resume parts --until 0.4 --quiet
same_run parts
expect_exit 0 "$flotsam" resume parts --until 0.44 --json
expect_json out "d['time'], d['frames']" "(0.44, 22)"

# ---- Signals at odd moments ----

"$flotsam" run lively.json --no-picture --quiet --out twice >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  [[ -e twice/particles_0001.vtp ]] && break
  sleep 0.01
done
# Two that come together are one: it stops in good order.
kill -s STOP "$job" && kill -s INT "$job" && kill -s TERM "$job" && kill -s CONT "$job"
wait "$job"
code=$?
((code == 128 + $(kill -l STOP))) && { wait "$job"; code=$?; } # as above
((code < 128)) || fail "two signals that came together ended the program at once, with $code"
expect_text err "finishing the current step"
# A later one ends the program at once. It stands still in between, so that it does not end by itself.
"$flotsam" run lively.json --no-picture --quiet --out late >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  [[ -e late/particles_0001.vtp ]] && break
  sleep 0.01
done
kill -s INT "$job"
for ((k = 0; k < 200; k++)); do
  grep -q finishing err && break
done
if kill -s STOP "$job" 2>/dev/null; then
  sleep 0.7
  kill -s TERM "$job" && kill -s CONT "$job"
  wait "$job"
  code=$?
  # Some shells tell first that it was stopped.
  ((code == 128 + $(kill -l STOP))) && { wait "$job"; code=$?; }
  ((code > 128)) || grep -q "end with exit code 1" late/log.txt || fail "a second signal did not end the program at once: $code"
fi
expect_exit 0 "$flotsam" resume twice --quiet
same_run twice
# Every step a frame: a checkpoint that is asked for comes all the same.
"$flotsam" run tiny.json --set frames_per_second=20000 --until 0.2 --no-picture --quiet --out steps >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  [[ -e steps/particles_0002.vtp ]] && break
  sleep 0.02
done
kill -s USR1 "$job"
for ((k = 0; k < 200; k++)); do
  grep -q 'checkpoint at' steps/log.txt && break
  sleep 0.02
done
expect_text steps/log.txt "checkpoint at"
kill -s INT "$job"
wait "$job"

# ---- What cannot be gone on with, and stays as it is ----

cp -r stopped short
head -c 2000 stopped/series.csv >short/series.csv
echo mine >short/diverged.notes.txt
rm -f short/bodies.csv
expect_exit 2 "$flotsam" resume short --until 0.5
expect_text err "short/series.csv: is shorter than the last checkpoint expects; restore the original file, or start the run again"
sed '1s/,paddle.vx,/,peddle.vx,/' stopped/series.csv >short/series.csv
expect_exit 2 "$flotsam" resume short --until 0.5
expect_text err "short/series.csv: column 53 is 'peddle.vx', but in this scene it is 'paddle.vx'"
rm short/series.csv
expect_exit 2 "$flotsam" resume short --until 0.5
expect_text err "short/series.csv: is missing; restore it"
cp stopped/series.csv short
expect_exit 2 "$flotsam" resume short --until 0.5
expect_text err "short/bodies.csv: is missing; restore it"
head -c 500 stopped/bodies.csv >short/bodies.csv
expect_exit 2 "$flotsam" resume short --until 0.5
expect_text err "short/bodies.csv: no row ends at byte"
expect_json short/summary.json "d['end']" finished
expect_file short/particles_0020.vtp
cp stopped/bodies.csv short
expect_exit 2 "$flotsam" resume short --until 0.1
expect_text err "name a later time"
sed -i 's/lively puddle/dull puddle/' short/scene.json
expect_exit 0 "$flotsam" resume short --until 0.5 --quiet
expect_text err "short/scene.json was changed after the run began"
expect_text short/scene.json "A lively puddle"
expect_text short/diverged.notes.txt mine

# ---- What cannot be gone on with ----

mkdir empty
expect_exit 2 "$flotsam" resume empty
expect_text err "empty: is not the folder of a run"
expect_exit 2 "$flotsam" resume nowhere
expect_text err "nowhere: there is no such folder"
expect_exit 2 "$flotsam" resume stoped
expect_text err "did you mean 'stopped'?"
expect_exit 2 "$flotsam" resume stopped --until 1 --frames 3
expect_exit 2 "$flotsam" resume
cp -r stopped broken
rm broken/particles_0007.vtp
expect_exit 2 "$flotsam" resume broken --until 0.5
expect_text err "frame 7 of the run is missing"
cp stopped/particles_0007.vtp broken
head -c 3000 stopped/checkpoint.h5 >broken/checkpoint.h5
expect_exit 2 "$flotsam" resume broken --until 0.5
expect_text err "broken/checkpoint.h5: is not a checkpoint, or is damaged; restore it, or start the run again"
expect_file broken/summary.json
rm broken/checkpoint.h5
expect_exit 2 "$flotsam" resume broken
expect_text err "broken: has no checkpoint"
expect_text err "flotsam run 'broken/scene.json' --out 'broken' --force"
finish
