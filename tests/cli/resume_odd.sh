# Runs that end or break off at odd moments: between frames, behind a cut-off frame, just before the summary.
source "$(dirname "$0")/common.sh"
set -m # background jobs must not ignore signals
# Coarser than elsewhere: many runs, each short.
sed 's/"spacing": 0.02/"spacing": 0.03/' "$here/lively.json" >lively.json

# value FOLDER KEY: a value of its summary. Interpreters that start take longer than most runs here.
value() { sed -n "s/^  \"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$1/summary.json"; }
more() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; } # A B: A > B

# same_frames FOLDER WHOLE: the frames, the bodies, the list of frames and the state are those of the other run.
same_frames() {
  [[ $(value "$1" state_hash) == "$(value "$2" state_hash)" ]] || fail "$1: another state than $2"
  [[ $(ls "$1") == "$(ls "$2")" ]] || fail "$1: other files than $2: $(ls "$1")"
  local file
  for file in "$2"/particles_*.vtp "$2"/run.pvd "$2"/bodies.csv; do
    cmp -s "$file" "$1/${file#*/}" || fail "$1: another ${file#*/} than $2"
  done
}

expect_exit 0 "$flotsam" run lively.json --no-picture --quiet --out whole

# ---- Until a moment that is no frame's, then further ----

# 0.25 and 0.1537 lie between frames, the first at an event; 0.14999 leaves a sliver before one; 0.001 no whole frame.
for until in 0.25 0.1537 0.14999 0.001; do
  expect_exit 0 "$flotsam" run lively.json --until $until --no-picture --json --out "odd$until"
  expect_json out "d['time']" $until
  before=$(value "odd$until" wall_seconds)
  expect_exit 0 "$flotsam" resume "odd$until"
  expect_text out "complete; continue it with --until T"
  expect_exit 0 "$flotsam" resume "odd$until" --until 0.4 --quiet
  same_frames "odd$until" whole
  more "$(value "odd$until" wall_seconds)" "$before" || fail "$until: wall_seconds shrank"
done

# Again from one such moment to another, which has a frame between them or has not.
expect_exit 0 "$flotsam" run lively.json --until 0.203 --no-picture --quiet --out steps
expect_exit 0 "$flotsam" resume steps --until 0.2071 --quiet
expect_exit 0 "$flotsam" resume steps --until 0.3333 --quiet
expect_exit 0 "$flotsam" run lively.json --until 0.3333 --no-picture --quiet --out straight
same_frames steps straight
expect_exit 0 "$flotsam" resume steps --until 0.4 --quiet
same_frames steps whole

# A checkpoint in the middle of a frame: no goal before it; and of the last steps to a goal beside the frames there is none,
# although every step is to have one. Fine enough that a fast machine is not past these goals when the signal comes.
sed 's/"frames_per_second": 50/"frames_per_second": 5/; s/"spacing": 0.02/"spacing": 0.014/' "$here/lively.json" >slow.json
expect_exit 0 "$flotsam" run slow.json --no-picture --quiet --out slow
"$flotsam" run slow.json --no-picture --quiet --checkpoint 0.02 --out killed >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  n=$(grep -c 'checkpoint at 0\.' killed/log.txt 2>/dev/null)
  ((${n:-0} >= 6)) && break # the first of them is on disk then
  sleep 0.01
done
kill -s KILL "$job" || fail "the run ended before the signal"
wait "$job" 2>/dev/null
expect_no_file killed/summary.json
cp -r killed beside
expect_exit 0 "$flotsam" resume killed --quiet --threads 1
expect_text killed/log.txt "continuing at 0."
python3 - killed/log.txt <<'PYTHON' || fail "the run was not resumed in the middle of a frame"
import re, sys
time = float(re.search(r"continuing at (\S+) s", open(sys.argv[1]).read()).group(1))
sys.exit(not (time > 0 and abs(time * 5 - round(time * 5)) > 1e-9))
PYTHON
same_frames killed slow
expect_exit 2 "$flotsam" resume beside --until 0.0001
expect_text err "name a later time than 0.0001 s"
expect_exit 0 "$flotsam" resume beside --until 0.2 --quiet
expect_exit 0 "$flotsam" resume beside --until 0.21 --quiet --checkpoint 1e-6
expect_exit 0 "$flotsam" resume beside --until 0.4 --quiet
same_frames beside slow

# ---- A goal before frames that are younger than the checkpoint: they are not given up ----

"$flotsam" run lively.json --no-picture --quiet --checkpoint 1e6 --out young >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  [[ -e young/particles_0004.vtp ]] && break
  sleep 0.01
done
kill -s KILL "$job" || fail "the run ended before the signal"
wait "$job" 2>/dev/null
n=$(find young -name 'particles_*.vtp' | wc -l)
before=$(cd young && cksum particles_*.vtp series.csv bodies.csv)
for until in 0 0.05 "$(python3 -c "print('%g' % (($n - 1) / 50 - 0.005))")"; do
  expect_exit 2 "$flotsam" resume young --until "$until"
  expect_text err "young: has $n frames already, up to "
  expect_text err "name a later time than $until s, or none to go on to 0.4 s"
done
[[ $(cd young && cksum particles_*.vtp series.csv bodies.csv) == "$before" ]] || fail "an early goal changed frames"
expect_exit 0 "$flotsam" resume young
expect_text err "continuing from the checkpoint at -0.05 s; frames 0 to $((n - 1)) are written again"
same_frames young whole

# ---- Interrupted on the way to such a goal ----

"$flotsam" run slow.json --until 0.3111 --no-picture --quiet --checkpoint 0.02 --out late >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  [[ -e late/particles_0000.vtp ]] && break
  sleep 0.01
done
kill -s INT "$job" || fail "the run ended before the signal"
wait "$job"
code=$?
((code == 1)) || fail "the exit code of an interrupted run is $code: $(<err)"
expect_exit 0 "$flotsam" resume late --until 0.4 --quiet
same_frames late slow

# ---- The last frame is cut off: found and written anew, to the last bit ----

expect_exit 0 "$flotsam" run lively.json --until 0.22 --no-picture --quiet --out longer
expect_exit 0 "$flotsam" run lively.json --until 0.2 --no-picture --quiet --out cut
size=$(stat -c %s cut/particles_0010.vtp)
for length in 0 $((size / 2)) $((size - 1)) $((size + 1)); do
  cp -r cut "cut$length"
  truncate -s "$length" "cut$length/particles_0010.vtp"
  expect_exit 0 "$flotsam" resume "cut$length" --until 0.22 --quiet
  expect_text "cut$length/log.txt" "frame 10 is written again"
  same_frames "cut$length" longer
done
expect_exit 0 "$flotsam" resume cut --until 0.22 --quiet
grep -q 'written again' cut/log.txt && fail "a whole frame was written anew"

# ---- Killed between the last checkpoint and the summary: the end is made up for ----

cp -r whole nearly
rm nearly/summary.json nearly/run.pvd
expect_exit 0 "$flotsam" resume nearly --quiet
same_frames nearly whole

# ---- Runs of earlier versions say figure and figures for measurement and measurements ----

cp -r cut older
sed -i 's/"measurement"/"figure"/' older/scene.json
sed -i 's/"measurements"/"figures"/' older/summary.json
grep -q '"figure"' older/scene.json && grep -q '"figures"' older/summary.json || fail "no older run to test with"
expect_exit 0 "$flotsam" info older
expect_exit 0 "$flotsam" resume older --until 0.24 --quiet
expect_exit 0 "$flotsam" resume cut --until 0.24 --quiet
same_frames older cut

# ---- Time spent after the last checkpoint was spent, too ----

cp -r cut spent
rm spent/summary.json
wall=$(head -1 spent/series.csv | tr , '\n' | grep -n '^wall_seconds$' | cut -d: -f1)
tail -1 spent/series.csv | awk -F, -v OFS=, -v column="$wall" '{ $column = 1234.5; print }' >>spent/series.csv
expect_exit 0 "$flotsam" resume spent --until 0.24 --quiet
more "$(value spent wall_seconds)" 1234.5 || fail "wall_seconds shrank"
finish
