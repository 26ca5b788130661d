# gallery: a folder of scenes becomes one page; what is there is kept, what was cut goes on, what fails is shown.
source "$(dirname "$0")/common.sh"
one="--threads 1 --width 160" # so few particles are faster without company, and small pictures as good as large ones

# make NAME PYTHON: a scene like tiny.json, after some changes to the document d.
make() {
  python3 -c 'import json, sys
d = json.load(open("tiny.json"))
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))' "$1" "$2"
}
# expect_page FILE: it is sound and stands alone; its texts are left in the file words.
expect_page() {
  python3 "$here/page.py" "$1" >words 2>problems || { fail "$1:"; sed 's/^/    /' problems; }
}
expect_word() { grep -qF -- "$1" words || fail "no '$1' on the page"; }
expect_no_word() { ! grep -qF -- "$1" words || fail "'$1' is on the page"; }
no_temporaries() { [[ -z $(find . -name '*.tmp') ]] || fail "temporary files were left: $(find . -name '*.tmp')"; }
changed() { stat -c '%n %y %i' "$@" | cksum; }

mkdir scenes
make scenes/calm.json 'd["duration"] = 0.04; d["title"] = "Calm <b>water</b> & \"quotes\" — déjà vu"; d["shows"] = "<script>alert(1)</script> (figure 3 of A & B 2001)"'
make 'scenes/it'\''s <odd> & "ü".json' 'd["duration"] = 0.02; d["expect"] = []; d["probes"] = [{"name": "a<b & c", "front": "x"}]'
make scenes/wrong.json 'd["duration"] = 0.04; d["expect"].append({"measurement": "max_speed", "max": 1e-6})'
make scenes/told.json 'd["duration"] = 0.02; d["expect"][0]["paper"] = "about <b>60</b> & more"; d["expect"] += [{"measurement": "iterations", "paper": "20.0 on average"}, {"measurement": "iterations", "max": 12345}]'
make scenes/wild.json 'd["time_step"] = 0.02'
echo '{ "schema_version": 1, ' >scenes/broken.json
echo 'no scene' >scenes/notes.txt

# Mistakes, before anything is done.
mkdir empty
expect_exit 2 "$flotsam" gallery $one --scenes empty
expect_text err "empty: the folder has no scene"
expect_exit 2 "$flotsam" gallery $one --scenes nowhere
expect_text err "nowhere"
expect_exit 2 "$flotsam" gallery $one --only dam-braek
expect_text err "no scene 'dam-braek', did you mean 'dam-break'?"
expect_exit 2 "$flotsam" gallery $one --scenes scenes --only calm,wrogn
expect_text err "no scene 'wrogn', did you mean 'wrong'?"
expect_exit 2 "$flotsam" gallery $one --only packing,nope
expect_text err "no scene 'nope' ('flotsam info scenes' lists them)"
expect_exit 2 "$flotsam" gallery $one --scenes scenes --only calm,nope
expect_text err "no scene 'nope' in scenes; its scenes are: "
expect_text err "calm, "
expect_exit 2 "$flotsam" gallery $one --scenes scenes --only ''
expect_text err "no scene ''"
expect_exit 2 "$flotsam" gallery $one --scenes scenes --look waters
expect_text err "did you mean 'water'?"
expect_exit 2 "$flotsam" gallery $one --scenes scenes --quality fine
expect_text err "--quality must be draft, good or best, not 'fine'"
expect_exit 2 "$flotsam" gallery $one --scenes scenes --out tiny.json
expect_exit 2 "$flotsam" gallery $one --scenes scenes --out tiny.json/below
mkdir -p taken/index.html
expect_exit 2 "$flotsam" gallery $one --scenes scenes --out taken
expect_text err "taken/index.html: cannot write"
expect_exit 2 "$flotsam" gallery $one --scenes scenes --only calm --size papre --out sizes
expect_text err "no scene has a size 'papre'"
if ((UID != 0)); then
  mkdir locked && chmod a-w locked
  expect_exit 2 "$flotsam" gallery $one --scenes scenes --out locked/here
fi
expect_no_file runs

# All of them: what is wrong is shown, and the others are there.
expect_exit 1 "$flotsam" gallery $one --scenes scenes --out all
expect_text out "page     all/index.html"
expect_text err "broken: scenes/broken.json"
expect_text err "wild: at "
expect_page all/index.html
expect_word 'Calm <b>water</b> & "quotes" — déjà vu'
expect_word '<script>alert(1)</script>'
expect_word 'Figure 3 of A & B 2001'
expect_word "it's <odd> & \"ü\""
expect_word 'a<b & c'
expect_word "6 scenes: 4 of 6 expectations met, 2 failed"
expect_word "1 of 2 missed"
expect_word "✗ missed"
expect_word "✓ passed"
expect_word "diverged"
expect_word "scenes/broken.json"
expect_word "flotsam run 'scenes/it'\\''s <odd> & \"ü\".json'"
expect_word "flotsam run scenes/calm.json"
n_pictures=$(sed -n 's/^pictures //p' words) n_movies=$(sed -n 's/^movies //p' words) n_plots=$(sed -n 's/^plots //p' words)
((n_pictures == 5)) || fail "$n_pictures pictures of five runs"
((n_plots >= 12)) || fail "only $n_plots plots"
if command -v ffmpeg >/dev/null; then ((n_movies >= 3)) || fail "only $n_movies movies"; fi
grep -q 'prefers-color-scheme:dark' all/index.html || fail "no dark scheme"
grep -q 'name="viewport"' all/index.html || fail "not for phones"
# Every grey of the plots has a rule that suits it to the page.
for colour in $(grep -o "fill=\"#[0-9a-f]*\"" all/index.html | sort -u | cut -d'"' -f2); do
  grep -qF "[fill='$colour']" all/index.html || fail "plots have the colour $colour, which the page does not know"
done
no_temporaries

# Once more: nothing is run or drawn again.
before=$(changed all/runs/*/run/* all/runs/*/pictures/*)
expect_exit 1 "$flotsam" gallery $one --scenes scenes --out all --quiet
expect_empty out
[[ $(changed all/runs/*/run/* all/runs/*/pictures/*) == "$before" ]] || fail "something was made again"
cp all/index.html first.html
expect_exit 0 "$flotsam" gallery $one --scenes scenes --out all --only calm --only calm
expect_page all/index.html
expect_word "1 scene: 1 of 1 expectations met"
expect_no_word "✗ missed"
grep -qF '<th>Paper</th>' all/index.html && fail "a column for what a paper has, where the scene tells nothing of it"

# What the paper has stands beside what was measured; what is only shown is not counted.
expect_exit 0 "$flotsam" gallery $one --scenes scenes --out all --only told
expect_page all/index.html
expect_word "1 scene: 2 of 2 expectations met"
expect_word "about <b>60</b> & more"
expect_word "20.0 on average"
expect_word "12 345"
expect_word "to compare"
expect_no_word "not judged"
grep -qF '<th class="n">Measured</th><th>Paper</th><th class="n">Wanted</th><th>Result</th>' all/index.html ||
  fail "no column for what the paper has"

# What was asked for has changed, or all is to be fresh.
kept=$(changed all/runs/calm/pictures/*.png)
expect_exit 0 "$flotsam" gallery $one --scenes scenes --out all --only calm --quality good
[[ $(changed all/runs/calm/pictures/*.png) != "$kept" ]] || fail "another quality was not drawn"
expect_json all/runs/calm/run/summary.json "d['frames']" 2
kept=$(changed all/runs/calm/pictures/*.png)
expect_exit 0 "$flotsam" gallery $one --scenes scenes --out all --only calm --width 176
[[ $(changed all/runs/calm/pictures/*.png) != "$kept" ]] || fail "another width was not drawn"
python3 -c 'import struct, sys; sys.exit(struct.unpack(">II", open(sys.argv[1], "rb").read(24)[16:]) != (176, 99))' \
  "$(ls all/runs/calm/pictures/picture_*.png | head -1)" || fail "the picture is not 176 x 99"
run=$(changed all/runs/calm/run/summary.json)
expect_exit 0 "$flotsam" gallery $one --scenes scenes --out all --only calm --set duration=0.02
expect_json all/runs/calm/run/summary.json "d['frames']" 1
expect_page all/index.html
expect_word "flotsam run scenes/calm.json --set duration=0.02"
expect_exit 0 "$flotsam" gallery $one --scenes scenes --out all --only calm --set duration=0.02 --fresh
[[ $(changed all/runs/calm/run/summary.json) != "$run" ]] || fail "--fresh ran nothing"

# What is in a mesh counts, and not its name alone.
mkdir meshes
solid() { # HEIGHT: a pyramid on a square
  printf 'v 0 0 0\nv .2 0 0\nv .2 .2 0\nv 0 .2 0\nv .1 .1 %s\nf 1 4 3 2\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n' "$1" >meshes/rock.obj
}
solid 0.1
cat >meshes/rock.json <<'END'
{ "schema_version": 1, "spacing": 0.1, "duration": 0.02, "frames_per_second": 50, "materials": { "water": {} },
  "boundaries": [ { "name": "tank", "shape": { "tank": [0.6, 0.4, 0.4] } },
                  { "name": "rock", "shape": { "mesh": "rock.obj" }, "at": [0.4, 0.1, 0] } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.2, 0.2, 0.2] }, "corner": [0, 0, 0] } ] }
END
expect_exit 0 "$flotsam" gallery $one --scenes meshes --out rocks
ran=$(changed rocks/runs/rock/run/summary.json)
expect_exit 0 "$flotsam" gallery $one --scenes meshes --out rocks
[[ $(changed rocks/runs/rock/run/summary.json) == "$ran" ]] || fail "a scene with a mesh is run every time"
solid 0.15
expect_exit 0 "$flotsam" gallery $one --scenes meshes --out rocks
[[ $(changed rocks/runs/rock/run/summary.json) != "$ran" ]] || fail "another mesh was not run"

# A damaged folder begins anew, and without ffmpeg there is no movie, but a page.
mkdir bin && ln -s "$(command -v sh)" bin/sh
echo damaged >all/runs/calm/run/checkpoint.h5 && rm all/runs/calm/run/summary.json
PATH=$work/bin expect_exit 0 "$flotsam" gallery $one --scenes scenes --out all --only calm --set duration=0.02
expect_text err "drawing the movie failed"
expect_page all/index.html
expect_word "apt-get install ffmpeg"
# The movie of the run before is there, but not of this one.
if command -v ffmpeg >/dev/null; then expect_file all/runs/calm/pictures/movie.mp4; fi
expect_word "movies 0"
expect_word "pictures 1"

# All came to their end, but one missed what is expected of it.
expect_exit 3 "$flotsam" gallery $one --scenes scenes --out all --only calm,wrong
expect_page all/index.html
expect_word "✗ missed"

# Names that look like options.
expect_exit 0 "$flotsam" gallery $one --scenes scenes --out=-dash --only calm
expect_empty err
expect_page ./-dash/index.html
expect_word "pictures 1"

# Cut off: by SIGTERM, and with SIGKILL, which leaves the run no word from above. Both go on to the same end.
mkdir long
make long/a.json 'd.update(spacing=0.02, duration=1.2, frames_per_second=5, expect=[])'
make long/b.json 'd.update(duration=0.02)'
expect_exit 0 "$flotsam" run --threads 1 long/a.json --no-picture --quiet --out whole
begin() { # FOLDER OPTION...: a gallery in the background, until it has something to lose
  "$flotsam" gallery $one --scenes long --out "$@" >out 2>err &
  job=$!
  for ((k = 0; k < 400; k++)); do
    [[ -e $1/runs/a/run/particles_0001.vtp ]] && break
    sleep 0.05
  done
}
cut() { # SIGNAL
  begin cut
  kill -s "$1" "$job" || fail "the gallery ended before the signal"
  wait "$job" 2>/dev/null
}
cut TERM
(($? == 1)) || fail "the exit code after SIGTERM is not 1"
expect_text err "the same command again to continue"
expect_json cut/runs/a/run/summary.json "d['end']" interrupted
expect_page cut/index.html
expect_word "2 scenes: 0 of 0 expectations met; 2 still to come"
cut KILL
for ((k = 0; k < 200; k++)); do
  [[ $("$flotsam" info cut/runs/a/run --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["end"])') == running ]] || break
  sleep 0.1
done
expect_exit 0 "$flotsam" gallery $one --scenes long --out cut
expect_text cut/runs/a/run/log.txt "continuing at"
expect_page cut/index.html
expect_word "2 scenes: 1 of 1 expectations met"
[[ $(json cut/runs/a/run/summary.json "d['state_hash']") == $(json whole/summary.json "d['state_hash']") ]] ||
  fail "a gallery that was cut off comes to another end"
no_temporaries

# Another flotsam in the folder is neither broken off nor begun anew over its head.
# It stands still meanwhile: the wait is long enough to keep a core busy.
process_of() { "$flotsam" info "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["process"])'; }
begin busy --only a --set duration=60
process=$(process_of busy/runs/a/run)
kill -s STOP "$process" || fail "there is no run to stop"
expect_exit 1 "$flotsam" gallery $one --scenes long --out busy --only a --set duration=60
expect_text err "busy/runs/a/run: another flotsam, process "
expect_text err "the same command again to continue"
kill -s CONT "$process"
signal=HUP # which is ignored by what a nohup started
((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status) & 1)) && signal=TERM
kill -s $signal "$job" || fail "the gallery ended before the signal"
wait "$job" 2>/dev/null
expect_json busy/runs/a/run/summary.json "d['end']" interrupted
! grep -q "continuing at" busy/runs/a/run/log.txt || fail "a run was resumed while it ran"

# Somebody else's page is not lost, nor one of another command.
mkdir site && echo '<h1>mine</h1>' >site/index.html
expect_exit 2 "$flotsam" gallery $one --scenes long --out site --only a
expect_text err "site/index.html: exists, and is not a page that 'flotsam gallery' wrote"
[[ $(cat site/index.html) == '<h1>mine</h1>' && $(ls site) == index.html ]] || fail "a foreign page was touched"
expect_exit 2 "$flotsam" compare long/a.json --out busy
expect_text err "is not a page that 'flotsam compare' wrote"

# A run that crashes is shown as failed, and the next one runs.
begin crash
kill -s KILL "$(process_of crash/runs/a/run)"
wait "$job"
(($? == 1)) || fail "the exit code after a crash is not 1"
expect_text err "a: the run was ended by signal 9"
expect_json crash/runs/b/run/summary.json "d['end']" finished
expect_page crash/index.html
expect_word "ended by signal 9"
finish
