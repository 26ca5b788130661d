# A tiny run: all files, their content, what the folder is protected from, exit codes.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" run tiny.json --frames 2
expect_text out "picture  runs/tiny/picture.png"
expect_text out "folder   runs/tiny"
for file in scene.json series.csv summary.json run.pvd log.txt picture.png \
  particles_0000.vtp particles_0001.vtp particles_0002.vtp; do
  expect_file "runs/tiny/$file"
done
expect_no_file runs/tiny/particles_0003.vtp
[[ -z $(find runs -name '*.tmp') ]] || fail "temporary files were left"

expect_text runs/tiny/series.csv "time,step,dt,iterations,residual,density_error_mean,density_error_max"
expect_text runs/tiny/series.csv "tank.x,"
expect_text runs/tiny/series.csv ",front,level"
(($(wc -l <runs/tiny/series.csv) == 4)) || fail "series.csv does not have a line of names and three rows"
[[ $(sed -n 4p runs/tiny/series.csv) == 0.04,* ]] || fail "frame 2 is not at 0.04 s exactly"

summary=runs/tiny/summary.json
expect_json $summary "d['title']" "A puddle for tests"
expect_json $summary "d['method']" wcsph
expect_json $summary "d['end'], d['interrupted'], d['diverged']" "('finished', False, False)"
expect_json $summary "d['time'], d['frames']" "(0.04, 2)"
expect_json $summary "d['particles']['fluid']" 64
expect_json $summary "d['measurements']['fluid_particles']" 64
expect_json $summary "d['measurements']['density_error_max.max'] >= d['measurements']['density_error_max']" True
expect_json $summary "len(d['state_hash'])" 16
expect_json $summary "d['expect'][0]['pass']" None
expect_json $summary "d['steps'] > 1 and sum(d['timings'].values()) > 0 and d['wall_seconds'] > 0" True

# The folder of an earlier run is kept unless told otherwise; foreign files are always kept.
expect_exit 2 "$flotsam" run tiny.json --frames 1
expect_text err "runs/tiny: exists and is not empty; replace"
echo mine >runs/tiny/notes.txt
expect_exit 0 "$flotsam" run tiny.json --frames 1 --force --no-picture
expect_text runs/tiny/notes.txt mine
expect_no_file runs/tiny/particles_0002.vtp
expect_no_file runs/tiny/picture.png
# Not even those that look like ours.
kept="particles_notes.txt particles_1.vtp particles_00001.vtp picture_12.png picture_0001.png.bak body_mine.ply scene.json.tmp checkpoint.h5.old"
for file in $kept; do echo mine >"runs/tiny/$file"; done
expect_file runs/tiny/body_tank.ply
expect_exit 0 "$flotsam" run tiny.json --frames 1 --force --no-picture --set boundaries.0.name=trough
for file in $kept; do expect_text "runs/tiny/$file" mine; done
expect_no_file runs/tiny/body_tank.ply
expect_file runs/tiny/body_trough.ply
mkdir foreign
echo '{}' >foreign/scene.json
expect_exit 2 "$flotsam" run tiny.json --frames 1 --force --out foreign
expect_text err "foreign: is not empty and not the folder of a run, and --force replaces only runs"
expect_text foreign/scene.json '{}'
# Nor is any other folder in which there is something, whatever its names; nothing in it is touched.
mkdir home
echo mine >home/letter.txt
before=$(ls -la --time-style=full-iso home)
for place in / home home/ "$PWD/home" .; do
  expect_exit 2 "$flotsam" run tiny.json --frames 0 --force --no-picture --out "$place"
  expect_text err "is not empty and not the folder of a run"
done
expect_exit 2 "$flotsam" run tiny.json --frames 0 --no-picture --out home
expect_text err "home: is not empty and not the folder of a run; name another folder"
[[ $(ls -la --time-style=full-iso home) == "$before" ]] || fail "a foreign folder was touched: $(ls -la home)"
expect_no_file log.txt
expect_no_file /log.txt
mkdir vacant
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --quiet --out vacant
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --quiet --force --out vacant/

# What the run wrote as its scene is a scene, and runs to the same state.
expect_exit 0 "$flotsam" run tiny.json --frames 2 --no-picture --quiet --out first
expect_empty out
expect_empty err
expect_exit 0 "$flotsam" run first/scene.json --frames 2 --no-picture --threads 1 --json --out "a folder/of its own"
expect_json out "d['state_hash'] == json.load(open('first/summary.json'))['state_hash']" True
expect_json out "d == json.load(open('a folder/of its own/summary.json'))" True

# Time: until a time between frames, the whole duration with its expectations judged, none at all.
expect_exit 0 "$flotsam" run tiny.json --until 0.03 --no-picture --json --out until
expect_json out "d['time'], d['frames']" "(0.03, 2)"
expect_exit 0 "$flotsam" run tiny.json --no-picture --json --out whole
expect_json out "d['time'], d['expect'][0]['pass']" "(0.1, True)"
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --json --out none
expect_json out "d['time'], d['steps']" "(0, 0)"

# A stored scene is called after its folder.
cp -r first "another one"
expect_exit 0 "$flotsam" run "another one/scene.json" --frames 0 --no-picture --quiet
expect_file "runs/another one/summary.json"
expect_no_file runs/scene
mkdir plain && cp tiny.json plain/scene.json # not a run's
expect_exit 0 "$flotsam" run plain/scene.json --frames 0 --no-picture --quiet
expect_file runs/scene/summary.json

# There is one picture, which render draws, too; one of an older end does not stay.
expect_exit 0 "$flotsam" run tiny.json --frames 3 --quiet --out drawn
[[ $(cd drawn && echo *.png) == picture.png ]] || fail "not one picture: $(ls drawn/*.png)"
expect_exit 0 "$flotsam" render drawn --quiet --force --out again.png
cmp -s again.png drawn/picture.png || fail "picture.png is not the last frame"
cp -r drawn undrawn
expect_exit 0 "$flotsam" resume undrawn --frames 4 --no-picture --quiet
expect_no_file undrawn/picture.png
expect_exit 0 "$flotsam" resume drawn --frames 4 --quiet
expect_exit 0 "$flotsam" render drawn --quiet --force --out again.png
cmp -s again.png drawn/picture.png || fail "picture.png is not the last frame after resume"

# What check notes is said before the run begins, without the remedies; the log has all of it.
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --out doubtful --set boundaries.0.slip=0.5 --set time_step=0.01
expect_text err "flotsam: note: boundary 'tank' has slip, which the method wcsph does not read"
expect_text err "flotsam: note: /time_step: 0.01 s is "
expect_text err "flotsam: note: for remedies, run: flotsam check tiny.json --set boundaries.0.slip=0.5 --set time_step=0.01"
grep -q 'leave it out\|lets it choose' err && fail "notes on the way are short: $(<err)"
expect_text doubtful/log.txt "does not read; leave it out, or use direct-forcing"
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --quiet --force --out doubtful --set boundaries.0.slip=0.5
expect_empty err
expect_text doubtful/log.txt "does not read"
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --out clear
expect_empty err
# Seven of them, of which six are said.
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --out many --set 'boundaries=[{"name":"a","shape":{"tank":[1,0.6]},"slip":0},{"name":"b","shape":{"box":0.2},"at":[2,0],"slip":0,"motions":[{"translate":[2000,0]}]},{"name":"c","shape":{"box":0.2},"at":[3,0],"slip":0,"motions":[{"translate":[2000,0]}]},{"name":"d","shape":{"box":0.2},"at":[4,0],"slip":0,"motions":[{"translate":[2000,0]}]}]'
(($(grep -c '^flotsam: note:' err) == 7)) || fail "not six notes and where to read more: $(<err)"
expect_text err "flotsam: note: 1 more; for remedies, run: flotsam check tiny.json --set "
# The command that is named is the whole one, however long it is, and a shell takes it as it was given.
long="probes=[$(for k in {1..120}; do printf '{"name":"p%d","front":"x"},' $k; done)$(printf '{"name":"last","front":"x"}')]"
((${#long} > 3072)) || fail "the option is not long enough: ${#long}"
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --out long --set "$long" \
  --set "title=What's \$this \"all\" about?" --set 'boundaries.0.slip=0.5'
expect_text err "flotsam: note: boundary 'tank' has slip"
command=$(sed -n 's/^flotsam: note: for remedies, run: //p' err)
eval "words=($command)"
((${#words[@]} == 9)) || fail "not the words that were given: ${#words[@]}"
[[ ${words[4]} == "$long" ]] || fail "the long option is not whole: ${#words[4]}"
[[ ${words[6]} == "title=What's \$this \"all\" about?" ]] || fail "the quoting is wrong: ${words[6]}"
[[ ${words[8]} == boundaries.0.slip=0.5 ]] || fail "the last option is '${words[8]}'"
# What is no plain text is shown so that a terminal does not obey it.
expect_exit 0 "$flotsam" run tiny.json --frames 0 --no-picture --out loud --set boundaries.0.slip=0.5 --set $'probes=\r[\n]'
expect_text err "--set \$'probes=\\x0d[\\x0a]'"

sed 's/"min": 64, "max": 64/"max": 63/' tiny.json >wrong.json
expect_exit 3 "$flotsam" run wrong.json --no-picture
expect_text err "expectation failed: fluid_particles is 64"
expect_json runs/wrong/summary.json "d['expect'][0]['pass'], d['expect'][0]['paper']" "(False, None)"

# What the paper has is kept and told; a measurement of which nothing is asked is never missed.
python3 - <<'END'
import json
d = json.load(open("wrong.json"))
d["expect"][0]["paper"] = "at most 63 (μ ≈ 0.577)"
d["expect"].append({"measurement": "iterations", "paper": "20.0"})
json.dump(d, open("paper.json", "w"))
END
expect_exit 3 "$flotsam" run paper.json --no-picture
expect_text err "expectation failed: fluid_particles is 64, expected at most 63: 1 or 1.6 % too high; the paper: at most 63 (μ ≈ 0.577)"
(($(grep -c "expectation failed" err) == 1)) || fail "a measurement that is only shown was missed: $(cat err)"
expect_json runs/paper/summary.json "[(e['paper'], e['pass'], e['low']) for e in d['expect']]" \
  "[('at most 63 (μ ≈ 0.577)', False, None), ('20.0', None, None)]"
expect_json runs/paper/scene.json "[e['paper'] for e in d['expect']]" "['at most 63 (μ ≈ 0.577)', '20.0']"
expect_exit 0 "$flotsam" info runs/paper
expect_text out "0 passed, 1 failed, 0 not judged"
expect_text out "failed: fluid_particles is 64, expected at most 63; the paper: at most 63 (μ ≈ 0.577)"
expect_exit 0 "$flotsam" run runs/paper/scene.json --no-picture --out again --set expect.0.max=64 --set expect.0.paper=many
expect_json again/summary.json "[(e['paper'], e['pass']) for e in d['expect']]" "[('many', True), ('20.0', None)]"
expect_exit 2 "$flotsam" check paper.json --set expect.0.paper=0.577
expect_text err "/expect/0/paper: must be text, got a number, 0.577; write it as text"
expect_exit 2 "$flotsam" check paper.json --set "expect.0.paper=$(printf '%0201d' 1)x"
expect_text err "/expect/0/paper: has 202 bytes, at most 200"
finish
