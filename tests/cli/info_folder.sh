# info DIR: what ran, how it ended, what is missing or damaged.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" run tiny.json --no-picture --quiet --out "my run"
expect_exit 0 "$flotsam" info "my run"
for text in "A puddle for tests" "wcsph" "64 fluid" "frames        6, from 0 to 0.1 s" "finished at 0.1 s" \
  "1 passed, 0 failed" "flotsam plot 'my run'" "paraview 'my run/run.pvd'"; do
  expect_text out "$text"
done
grep -q problems out && fail "a fine run has problems"
grep -q 'go on' out && fail "a finished run is to go on"
expect_exit 0 "$flotsam" info "my run/" --json
expect_json out "d['folder'], d['end'], d['frames'], d['time'], d['duration']" "('my run', 'finished', 6, 0.1, 0.1)"
expect_json out "d['passed'], d['failed'], d['not_judged'], d['problems'], d['resume']" "(1, 0, 0, [], None)"
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
expect_text out "finished at 0.04 s of 0.1 s"
expect_text out "0 passed, 0 failed, 1 not judged"

# Runs that broke off.
expect_exit 1 "$flotsam" run tiny.json --set time_step=0.05 --no-picture --out diverged
expect_exit 0 "$flotsam" info diverged
expect_text out "diverged at"
expect_text out "go on"
rm short/summary.json
expect_exit 0 "$flotsam" info short
expect_text out "not finished: still going on, or killed behind 0.04 s"
expect_text out "A puddle for tests"
expect_text out "flotsam resume 'short'"
rm short/checkpoint.h5
expect_exit 0 "$flotsam" info short
expect_text out "flotsam run 'short/scene.json' --out 'short' --force"
expect_exit 0 "$flotsam" info short --json
expect_json out "d['end'], d['method'], d['particles'], d['passed']" "('unfinished', 'wcsph', None, None)"

# ---- Damage ----

printf '0.06,17' >>short/series.csv
touch short/particles_0003.vtp.77.tmp
truncate -s -5 short/particles_0001.vtp
expect_exit 0 "$flotsam" info short
expect_text out "the last line of series.csv is not complete"
expect_text out "1 files ending with .tmp were never finished"
expect_text out "short/particles_0001.vtp is cut off"
rm "my run/particles_0002.vtp"
expect_exit 0 "$flotsam" info "my run"
expect_text out "particles_0002.vtp is missing, but 3 later frames are there"
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
expect_text out "radius of the ring"
expect_exit 0 "$flotsam" info shape torus --json
expect_json out "d['name']" torus
expect_exit 2 "$flotsam" info shape tours
expect_text err "did you mean 'torus'?"
expect_exit 2 "$flotsam" info shape
expect_text err "which shape?"
finish
