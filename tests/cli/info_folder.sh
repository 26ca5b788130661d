# info DIR: what ran, how it ended, what is missing or damaged.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" run tiny.json --no-picture --quiet --out "my run"
expect_exit 0 "$flotsam" info "my run"
for text in "A puddle for tests" "wcsph" "64 fluid" "frames        6, numbers 0 to 5, from 0 to 0.1 s" "finished at 0.1 s" \
  "1 passed, 0 failed" "flotsam plot 'my run'" "paraview 'my run/run.pvd'"; do
  expect_text out "$text"
done
grep -q problems out && fail "a fine run has problems"
grep -q 'go on' out && fail "a finished run is to go on"
expect_exit 0 "$flotsam" info "my run/" --json
expect_json out "d['folder'], d['end'], d['frames'], d['time'], d['duration']" "('my run', 'finished', 6, 0.1, 0.1)"
expect_json out "d['passed'], d['failed'], d['not_judged'], d['problems'], d['resume']" "(1, 0, 0, [], None)"
expect_json out "d['last_frame'], d['checkpoint'], d['can_resume'], d['process'], d['try']" \
  "(5, 'checkpoint.h5', True, None, [])"
files=$(find "my run" -type f | wc -l)
bytes=$(find "my run" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
expect_json out "d['files'], d['bytes']" "($files, $bytes)"

# Expectations that failed are named; a run that was cut short is not judged.
sed 's/"min": 64, "max": 64/"max": 63/' tiny.json >wrong.json
expect_exit 3 "$flotsam" run wrong.json --no-picture --out wrong
expect_exit 0 "$flotsam" info wrong
expect_text out "0 passed, 1 failed, 0 not judged"
expect_text out "failed: fluid_particles is 64, expected at most 63"
expect_exit 0 "$flotsam" run tiny.json --frames 2 --no-picture --quiet --out short
expect_exit 0 "$flotsam" info short
expect_text out "finished at 0.04 s as its options asked; the scene's duration is 0.1 s"
expect_exit 0 "$flotsam" info short --json
expect_json out "d['until'], d['duration']" "(0.04, 0.1)"
# Longer than the scene, and stopped on the way: the end is the one that was asked for.
"$flotsam" run tiny.json --until 1000 --no-picture --quiet --out long >out 2>err &
job=$!
for ((k = 0; k < 6000; k++)); do
  [[ -e long/particles_0002.vtp ]] && break
  sleep 0.01
done
expect_exit 0 "$flotsam" info long
expect_text out "of 1000 s"
kill -s TERM $job
wait $job
expect_exit 0 "$flotsam" info long
grep -q "interrupted at .* s of 1000 s" out || fail "the end of an interrupted run is not told: $(grep end out)"
expect_exit 0 "$flotsam" info short
expect_text out "0 passed, 0 failed, 1 not judged"

# A run that diverged would diverge again: it is to be looked into, not to be resumed.
with_path() { PATH=$(dirname "$flotsam"):$PATH bash -c "$1"; } # does what a suggestion says
expect_exit 1 "$flotsam" run tiny.json --set time_step=0.05 --no-picture --out diverged
expect_exit 0 "$flotsam" info diverged
expect_text out "diverged at"
expect_text out "flotsam run 'diverged/diverged.json'"
expect_text out "flotsam run 'diverged/scene.json' --out 'diverged-2' --set time_step=0"
grep -qE 'go on|flotsam resume' out && fail "a run that diverged is to go on"
expect_exit 0 "$flotsam" info diverged --json
expect_json out "d['end'], d['resume'], len(d['try']), d['problems']" "('diverged', None, 2, [])"
expect_json out "d['frames'] == d['last_frame'] + 1 == $(ls diverged/particles_*.vtp | wc -l)" True
cp out diverged.info
expect_exit 1 with_path "$(json diverged.info "d['try'][0]")"
expect_exit 0 with_path "$(json diverged.info "d['try'][1]") --no-picture"
rm -r runs diverged-2

# ---- Going on, or killed ----

expect_exit 0 "$flotsam" run tiny.json --frames 2 --no-picture --quiet --out killed
rm killed/summary.json
expect_exit 0 "$flotsam" info killed
expect_text out "not finished: killed behind 0.04 s"
expect_text out "A puddle for tests"
expect_text out "flotsam resume 'killed'"
expect_exit 0 "$flotsam" info killed --json
expect_json out "d['end'], d['method'], d['particles'], d['passed']" "('killed', 'wcsph', None, None)"
rm killed/log.txt
expect_exit 0 "$flotsam" info killed
expect_text out "not finished: still running, or killed behind 0.04 s"
expect_text out "log.txt is missing"

"$flotsam" run tiny.json --set spacing=0.01 --until 1000 --no-picture --quiet --out going 2>/dev/null &
process=$!
for ((k = 0; k < 400; k++)); do
  [[ -e going/particles_0002.vtp ]] && break
  sleep 0.05
done
for ((k = 0; k < 5; k++)); do
  expect_exit 0 "$flotsam" info going
  expect_text out "running as process $process"
  grep -qE 'problems|go on' out && { fail "a run that goes on has problems:"; cat out; }
done
expect_exit 0 "$flotsam" info going --json
expect_json out "d['end'], d['process'], d['resume'], d['can_resume']" "('running', $process, None, False)"
# Asking has not taken its lock away.
expect_exit 2 "$flotsam" resume going
expect_text err "another flotsam is running in this folder"
kill -KILL $process
wait $process 2>/dev/null
expect_exit 0 "$flotsam" info going
expect_text out "not finished: killed behind"
expect_text out "flotsam resume 'going'"
grep -qE '(rows|lists)' out && fail "to be killed between a row and its frame is no damage"

# ---- Quotes in names ----

odd="it's \$HOME \"here\""
cp -r killed "$odd"
expect_exit 0 "$flotsam" info "$odd" --json
cp out odd.info
for place in 0:2 1:2 2:2 3:1; do
  expect_json odd.info "__import__('shlex').split(d['look'][${place%:*}])[${place#*:}].startswith(d['folder'])" True
done
expect_exit 0 with_path "$(json odd.info "d['look'][2]")"
expect_text out "id,type"

# ---- Damage ----

# Everything that is missing is missed; without a good checkpoint the run has to begin anew.
copy() { # NAME: a copy of a run that could be made longer
  rm -rf "$1"
  cp -r good "$1"
}
problem() { # FOLDER TEXT: the only problem, and it names it
  expect_exit 0 "$flotsam" info "$1"
  expect_text out "problems      $2"
  expect_exit 0 "$flotsam" info "$1" --json
  expect_json out "len(d['problems'])" 1
}
expect_exit 0 "$flotsam" run tiny.json --frames 3 --no-picture --quiet --out good
for name in log.txt bodies.csv run.pvd series.csv checkpoint.h5 scene.json; do
  copy bad
  rm bad/$name
  expect_exit 0 "$flotsam" info bad
  expect_text out "$name is missing"
done
copy bad && rm bad/body_tank.ply && problem bad "1 of 1 files body_NAME.ply are missing"
copy bad && sed -i '$d' bad/bodies.csv
expect_exit 0 "$flotsam" info bad
expect_text out "bodies.csv has 3 rows, but there are 4 frames of 1 bodies"
copy bad && sed -i '/particles_0002/d' bad/run.pvd && problem bad "run.pvd lists 3 frames, but there are 4"
copy bad && sed -i '$d' bad/run.pvd && problem bad "run.pvd is incomplete"
resume_is_impossible() {
  rm -f bad/summary.json
  expect_exit 0 "$flotsam" info bad
  expect_text out "flotsam run 'bad/scene.json' --out 'bad' --force"
  expect_exit 0 "$flotsam" info bad --json
  expect_json out "d['can_resume'], d['end']" "(False, 'killed')"
  expect_exit 2 "$flotsam" resume bad --until 0.1
}
copy bad && rm bad/checkpoint.h5 && problem bad "checkpoint.h5 is missing" && resume_is_impossible
copy bad && truncate -s 20000 bad/checkpoint.h5 && problem bad "bad/checkpoint.h5: " && resume_is_impossible
copy bad && : >bad/checkpoint.h5 && problem bad "bad/checkpoint.h5: " && resume_is_impossible
copy bad && truncate -s 40 bad/bodies.csv && resume_is_impossible
expect_text err "bodies.csv"
copy bad && rm bad/particles_0003.vtp && resume_is_impossible
rm bad/scene.json bad/checkpoint.h5
expect_exit 0 "$flotsam" info bad --json
expect_json out "d['until'], d['duration']" "(None, None)"
expect_exit 0 "$flotsam" info bad
grep -q 'go on' out && fail "the run cannot be continued"

rm short/summary.json short/checkpoint.h5
expect_exit 0 "$flotsam" info short --json
expect_json out "d['until'], d['duration']" "(0.1, 0.1)" # nothing else is known any more
printf '0.06,17' >>short/series.csv
touch short/particles_0003.vtp.77.tmp
truncate -s -5 short/particles_0001.vtp
expect_exit 0 "$flotsam" info short
expect_text out "the last line of series.csv is not complete"
expect_text out "1 files ending with .tmp were never finished"
expect_text out "short/particles_0001.vtp is incomplete"
rm "my run/particles_0002.vtp"
expect_exit 0 "$flotsam" info "my run"
expect_text out "particles_0002.vtp is missing, but 3 later frames exist"
expect_text out "series.csv has 6 rows, but there are 2 frames"
python3 - <<'END'
data = bytearray(open("wrong/particles_0005.vtp", "rb").read())
data[len(data) // 2] ^= 255
open("wrong/particles_0005.vtp", "wb").write(data)
END
echo '{ "end": ' >wrong/summary.json
rm wrong/scene.json wrong/series.csv
expect_exit 0 "$flotsam" info wrong
expect_text out "particles_0005.vtp: damaged"
expect_text out "summary.json is damaged"
expect_text out "scene.json is missing"
expect_text out "series.csv is missing"
expect_exit 0 "$flotsam" info wrong --json
expect_json out "len(d['problems']) >= 4, d['title']" "(True, None)"

# ---- Words that are neither ----

expect_exit 2 "$flotsam" info diverged/log.txt
expect_text err "is a file, not the folder of a run"
expect_exit 2 "$flotsam" info ./divregd
expect_text err "there is no such folder, did you mean './diverged'?"
mkdir -p runs && mv diverged runs/
expect_exit 2 "$flotsam" info diverged
expect_text err "did you mean 'runs/diverged'?"
expect_exit 2 "$flotsam" info mehtods
expect_text err "did you mean 'methods'?"
expect_exit 2 "$flotsam" info nonsense
expect_text err "nonsense"
mkdir scenes && cp runs/diverged/* scenes
expect_exit 0 "$flotsam" info scenes
expect_text out "dam-break"
expect_exit 0 "$flotsam" info ./scenes
expect_text out "diverged at"

# A shape by itself.
expect_exit 0 "$flotsam" info shape torus
expect_text out "radius of a torus (the ring), radius"
expect_exit 0 "$flotsam" info shape torus --json
expect_json out "d['name']" torus
expect_exit 2 "$flotsam" info shape tours
expect_text err "did you mean 'torus'?"
expect_exit 2 "$flotsam" info shape
expect_text err "the name of a shape is missing"
finish
