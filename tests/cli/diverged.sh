# Runs that diverge leave a small scene that diverges as well, and can be resumed to the same end.
source "$(dirname "$0")/common.sh"
cp "$here/lively.json" .

# value FOLDER KEY: a value of its summary. Interpreters that start take longer than most runs here.
value() { sed -n "s/^  \"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$1/summary.json"; }
hash_of() { echo "$(value "$1" state_hash) $(value "$1" time) $(value "$1" steps)"; }

# density_of FOLDER ID: of a fluid particle in the last frame, before the step that failed moved it.
density_of() { "$flotsam" convert "$1" --frame last | awk -F, -v id="$2" '$1 == id && $2 == "fluid" { print $10 }'; }

# diverges NAME option...: NAME.json, run with these options into the folder NAME, does what it should.
diverges() {
  local name=$1 message id
  shift
  expect_exit 1 "$flotsam" run "$name.json" --no-picture --quiet --out "$name" "$@"
  message=$(<err)
  expect_text err "flotsam: at "
  expect_text err "; try "
  expect_text err "; a small scene around it is in $name/diverged.json, try: flotsam run '$name/diverged.json'"
  expect_json "$name/summary.json" "d['end'], d['message'].endswith(\"diverged.json'\")" "('diverged', True)"
  (($(wc -l <"$name/diverged.csv") <= 1200)) || fail "$name: the scene around it is not small"
  expect_json "$name/diverged.json" "[k for k in ('fluids', 'fills', 'emitters', 'sinks', 'events', 'probes') if k in d]" "[]"

  # The scene is right; whether it lives through the few steps of a check is another matter.
  "$flotsam" check "$name/diverged.json" >out 2>err
  (($? != 2)) || fail "$name: flotsam check refuses diverged.json: $(<err)"
  expect_exit 1 "$flotsam" run "$name/diverged.json" --no-picture --quiet --out "$name-small"
  expect_text err "flotsam: at "
  [[ $(value "$name-small" diverged) == true && $(value "$name-small" steps) -le 40 ]] ||
    fail "$name: the small scene does not diverge within 40 steps"

  # Particle 0 is the one that went wrong, with the same neighbours.
  id=$(grep -o 'of particle [0-9]*' <<<"$message" | grep -o '[0-9]*$')
  if [[ -n $id && $(value "$name-small" steps) == 0 ]]; then
    [[ $(density_of "$name" "$id") == "$(density_of "$name-small" 0)" ]] || fail "$name: another density than in the run"
  fi

  one_of_each_time "$name"
  one_of_each_time "$name-small"

  # Going on ends in the same way, whatever the threads.
  local before
  before=$(hash_of "$name")
  cp "$name/diverged.csv" "$name/diverged.json" .
  expect_exit 1 "$flotsam" resume "$name" --quiet --threads 1
  [[ $(<err) == "$message" ]] || fail "$name: another message when resumed: $(<err)"
  [[ $(hash_of "$name") == "$before" ]] || fail "$name: another state when resumed"
  cmp -s diverged.csv "$name/diverged.csv" || fail "$name: other particles when resumed"
  cmp -s diverged.json "$name/diverged.json" || fail "$name: another scene when resumed"
  one_of_each_time "$name"
}

# No two frames of the same time: ParaView would show one of them only.
one_of_each_time() {
  [[ -z $(grep -o 'timestep="[^"]*"' "$1/run.pvd" | sort | uniq -d) ]] || fail "$1: two frames of the same time"
  (($(grep -c '<DataSet' "$1/run.pvd") == $(n_frames "$1"))) || fail "$1: run.pvd and the frames differ"
  (($(wc -l <"$1/series.csv") == $(n_frames "$1") + 1)) || fail "$1: the series and the frames differ"
}

n_frames() { find "$1" -name 'particles_*.vtp' | wc -l; }

# ---- Before there is a frame, while the fluid settles; and soon after ----

diverges lively --set time_step=0.0012
(($(n_frames lively) == 1)) || fail "lively: there are frames besides the broken one"
expect_json lively/diverged.json "d['settle'], 0 < d['time_step'] <= 0.0012" "(0, True)"
diverges tiny --set time_step=0.05
(($(wc -l <tiny/diverged.csv) == 65)) || fail "tiny: of few particles all are to be kept"
expect_json tiny/diverged.json "d['time_step'], round(d['method']['sound_speed'], 3)" "(0.02, 28.014)"

# ---- After several frames, with a wall that moves and turns, and two fluids around ----

cat >squeeze.json <<'END'
{ "schema_version": 1, "dimension": 2, "spacing": 0.02, "duration": 0.4, "frames_per_second": 50, "time_step": 6e-4,
  "materials": { "water": {}, "oil": { "density": 800, "viscosity": 1e-4 } }, "method": { "name": "wcsph", "sound_speed": 20 },
  "boundaries": [
    { "name": "tank", "shape": { "tank": [0.8, 0.4], "closed": true } },
    { "name": "piston", "shape": { "box": [0.2, 0.3] }, "corner": [0.8, 0.05],
      "motions": [ { "translate": [-8, 0], "start": 0.05 }, { "rotate": { "rate": 2 } } ] } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.8, 0.2] }, "corner": [0, 0] },
              { "material": "oil", "shape": { "box": [0.8, 0.2] }, "corner": [0, 0.2] } ] }
END
diverges squeeze
(($(n_frames squeeze) >= 5)) || fail "squeeze: it diverged too early for what is to be tested"
expect_json squeeze/diverged.json "sorted(e['rows'] for e in d['particles'])" "['oil', 'water']"
expect_json squeeze/diverged.json "len(d['particles'][0]['rows']) > 0 and d['particles'][0]['material'] == d['particles'][0]['rows']" True
# Where the piston was when it happened, and how fast.
IFS=, read -r _ _ _ x y _ qw _ _ qz vx vy _ _ _ wz _ < <(grep piston squeeze/bodies.csv | tail -1)
expect_json squeeze/diverged.json "d['boundaries'][1]['at']" "[$x, $y]"
expect_json squeeze/diverged.json "[round(v, 9) for v in d['boundaries'][1]['motions'][1]['translate']]" \
  "$(python3 -c "print([round($vx, 9), round($vy, 9)])")"
expect_json squeeze/diverged.json "d['boundaries'][1]['motions'][0]['rotate']['rate']" "$wz"
expect_json squeeze/diverged.json "round(d['boundaries'][1]['rotate']['angle'], 6)" \
  "$(python3 -c "import math; print(round(2 * math.degrees(math.atan2($qz, $qw)), 6))")"

cat >piston.json <<'END'
{ "schema_version": 1, "spacing": 0.05, "duration": 1, "frames_per_second": 50, "time_step": 0.0012, "method": "wcsph",
  "boundaries": [
    { "name": "tank", "shape": { "tank": [1, 0.4, 0.4], "closed": true } },
    { "name": "piston", "shape": { "box": [0.2, 0.4, 0.4] }, "at": [1.1, 0.2, 0.2],
      "motions": [ { "translate": [-2, 0, 0], "start": 0.03 }, { "rotate": { "axis": [1, 0, 0], "rate": 0.3 } } ] } ],
  "fluids": [ { "material": { "viscosity": 1e-3 }, "shape": { "box": [1, 0.4, 0.4] }, "corner": [0, 0, 0] } ] }
END
diverges piston
(($(n_frames piston) >= 5)) || fail "piston: it diverged too early for what is to be tested"
(($(wc -l <piston/diverged.csv) < 1281)) || fail "piston: all particles were kept"

# ---- A step that would have to be too short, because of fluid that an event has added ----

cat >drop.json <<'END'
{ "schema_version": 1, "dimension": 2, "spacing": 0.0125, "duration": 1, "frames_per_second": 50, "min_time_step": 1e-6,
  "method": "wcsph",
  "boundaries": [ { "shape": { "tank": [1, 0.6] } } ],
  "fluids": [ { "material": {}, "shape": { "box": [1, 0.3] }, "corner": [0, 0] } ],
  "events": [ { "at": 0.113, "add": { "material": { "density": 900 }, "shape": { "box": 0.1 }, "at": [0.5, 0.5],
                                      "velocity": [0, -9e3] } } ] }
END
diverges drop
expect_text err "below min_time_step"
# The speed of sound that the method takes there is more than a scene may ask for.
sed 's/9e3/9e4/; s/0.113/0.013/' drop.json >fast.json
diverges fast
expect_json fast/diverged.json "d['method']['sound_speed']" 0

# ---- Bodies: held and spinning ones, with frictions that change ----

cat >floats.json <<'END'
{ "schema_version": 1, "dimension": 2, "spacing": 0.02, "duration": 1, "frames_per_second": 50, "min_time_step": 1e-6,
  "gravity": [0, 0], "method": { "name": "monolithic" },
  "materials": { "water": {}, "oak": { "density": 600, "friction": 0.3 } },
  "boundaries": [ { "name": "tank", "shape": { "tank": [2, 1] }, "friction": 0.4 } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.4, 0.2] }, "corner": [0, 0] } ],
  "bodies": [
    { "name": "wedge", "material": "oak", "shape": { "outline": { "points": [[0, 0], [0.3, 0], [0, 0.3]] } },
      "at": [1.2, 0.4], "velocity": [0.5, 0.25], "angular_velocity": [0, 0, 2] },
    { "name": "ball", "material": "oak", "shape": { "sphere": 0.1 }, "at": [0.8, 0.8], "velocity": [0, -1] } ],
  "events": [
    { "at": 0.5, "body": "ball", "release": true },
    { "at": 0.05, "body": "wedge", "set": { "friction": 0.1 } },
    { "at": 0.1, "body": "ball", "set": { "friction": 0.7, "within": 0.2 } },
    { "at": 0.9, "body": "ball", "set": { "friction": 0.8 } },
    { "at": 0.113, "add": { "material": { "density": 900 }, "shape": { "box": 0.1 }, "at": [0.2, 0.5], "velocity": [0, -9e4] } } ] }
END
expect_exit 1 "$flotsam" run floats.json --no-picture --quiet --out floats
expect_text err "a small scene around it is in floats/diverged.json"
expect_json floats/diverged.json "d['materials']['oak']['friction'], 'friction' in d['materials']['water']" "(0.3, False)"
# No force acts: the centre of mass goes on as it did, whatever the corner does about which the shape is drawn.
expect_json floats/diverged.json "[round(v, 9) for v in d['bodies'][0]['velocity']]" "[0.5, 0.25]"
expect_json floats/diverged.json "[round(v, 9) for v in d['bodies'][0]['angular_velocity']]" "[0, 0, 2]"
# What is held stays so for what is left, and goes off then.
expect_json floats/diverged.json "[round(b['release'], 9) for b in d['bodies']]" "[0, 0.387]"
expect_json floats/diverged.json "d['bodies'][1]['velocity']" "[0, -1]"
# 0.3 + (0.7 - 0.3) 0.013 / 0.2 by now, and on from there; the next change is behind the end.
expect_json floats/diverged.json "[round(b['friction'], 9) for b in d['bodies']]" "[0.1, 0.326]"
expect_json floats/diverged.json "d['boundaries'][0]['friction']" 0.4
expect_json floats/diverged.json "[(e['at'], e['body'], e['set']['friction'], round(e['set']['within'], 9)) for e in d['events']]" \
  "[(0, 'ball', 0.7, 0.187)]"
expect_exit 1 "$flotsam" run floats/diverged.json --no-picture --quiet --out floats-small

# ---- If that cannot be written, the divergence is what is reported ----

"$flotsam" run drop.json --no-picture --quiet --out blocked >out 2>err &
job=$!
for ((k = 0; k < 600; k++)); do
  [[ -e blocked/particles_0000.vtp ]] && break
  sleep 0.02
done
mkdir blocked/diverged.csv || fail "there was no run to get in the way of"
wait "$job"
(($? == 1)) || fail "the exit code of a run that diverged is not 1"
expect_text err "below min_time_step"
grep -q 'small scene' err && fail "a scene is named that is not there"
expect_text blocked/log.txt "no small scene around the particle that went wrong was written: blocked/diverged.csv: cannot write: Is a directory"
expect_json blocked/summary.json "d['diverged']" True
[[ $(hash_of blocked) == "$(hash_of drop)" ]] || fail "blocked: another state than with a scene"
expect_no_file blocked/diverged.json

# ---- Broken in the very first step: the broken state stands for the frame, and resuming brings that back first ----

expect_exit 1 "$flotsam" run tiny/diverged.json --no-picture --quiet --out first
(($(n_frames first) == 1)) || fail "first: two frames of one moment"
cp first/particles_0000.vtp broken.vtp
expect_exit 1 "$flotsam" resume first --quiet
cmp -s broken.vtp first/particles_0000.vtp || fail "first: another broken frame when resumed"
expect_text first/log.txt "frame 0 is written again"

# ---- Both are told if even the frame cannot be written ----

"$flotsam" run drop.json --no-picture --quiet --out both >out 2>err &
job=$!
for ((k = 0; k < 600; k++)); do
  [[ -e both/particles_0000.vtp ]] && break
  sleep 0.02
done
# It diverges behind frame 5; nothing is in the way of the frames before.
mkdir both/particles_0006.vtp || fail "there was no run to get in the way of"
wait "$job"
(($? == 1)) || fail "the exit code of a run that diverged is not 1"
expect_text err "below min_time_step"
expect_text err "flotsam: in addition: both/particles_0006.vtp: cannot write: Is a directory"
expect_json both/summary.json "d['end'], 'below min_time_step' in d['message']" "('diverged', True)"

# ---- What convert prints can be a beginning ----

"$flotsam" convert tiny --frame 0 >start.csv
cat >again.json <<'END'
{ "schema_version": 1, "dimension": 2, "spacing": 0.05, "duration": 0.1,
  "boundaries": [ { "shape": { "tank": [1, 0.6] } } ], "particles": [ { "material": {}, "file": "start.csv" } ] }
END
expect_exit 0 "$flotsam" check again.json
expect_text out "64 fluid"
expect_text out "particles0                  64  particles"
expect_exit 0 "$flotsam" run again.json --frames 1 --quiet --out again
expect_file again/picture.png
expect_text again/scene.json '"assets/start-'
expect_file again/assets/start-*.csv
finish
