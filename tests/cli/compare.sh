# compare: one scene by several methods on one page; what cannot be compared is refused before anything is run.
source "$(dirname "$0")/common.sh"
one="--threads 1 --width 160" # so few particles are faster without company, and small pictures as good as large ones

make() { # NAME PYTHON: a scene like tiny.json, after some changes to the document d.
  python3 -c 'import json, sys
d = json.load(open("tiny.json"))
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))' "$1" "$2"
}
expect_page() { # FILE: it is sound and stands alone; its texts are left in the file words.
  python3 "$here/page.py" "$1" >words 2>problems || { fail "$1:"; sed 's/^/    /' problems; }
}
expect_word() { grep -qF -- "$1" words || fail "no '$1' on the page"; }
changed() { stat -c '%n %y %i' "$@" | cksum; }

make box.json 'd.update(title="A box & <water>", duration=0.06, bodies=[{"name": "crate", "material": "water", "shape": {"box": [0.15, 0.15]}, "at": [0.7, 0.3]}])
d["method"] = {"name": "monolithic", "max_iterations": 30}
d["expect"] = [{"measurement": "crate.y", "min": 0, "paper": "it floats"}, {"measurement": "iterations", "paper": "20.0 & fewer"}]
d["sizes"] = {"draft": {}}'
make plain.json 'd.update(duration=0.02, sizes={"draft": {}})'

# Mistakes, before anything is run.
expect_exit 2 "$flotsam" compare $one nothing-of-the-kind --methods wcsph,monolithic
expect_text err "no scene 'nothing-of-the-kind'"
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,monolihtic
expect_text err "no method 'monolihtic', did you mean 'monolithic'?"
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph
expect_text err "at least two methods are needed, got 1 method"
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,wcsph
expect_text err "at least two methods are needed, got 1 method"
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,monolithic --set method=wcsph
expect_text err "the methods with --methods"
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,monolithic --set method.max_iteration=3
expect_text err "none of the methods has a parameter 'max_iteration', did you mean 'max_iterations'?"
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,monolithic --size paper
expect_text err "unknown size 'paper'"
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,monolithic --set spacing=-1
expect_exit 2 "$flotsam" compare $one box.json --methods wcsph,monolithic --out refused
expect_text err "wcsph cannot run this scene: box.json: /bodies/0: body: method 'wcsph' knows no bodies that are pushed around"
expect_no_file refused/runs/monolithic/run
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,monolithic --out tiny.json/below
mkdir -p taken/index.html
expect_exit 2 "$flotsam" compare $one plain.json --methods wcsph,monolithic --out taken
expect_text err "taken/index.html: cannot write"

# A method's place that cannot be made ends the comparison, also after one before it was left out.
mkdir -p blocked/runs && touch blocked/runs/direct-forcing
expect_exit 2 "$flotsam" compare $one box.json --out blocked
expect_text err "blocked/runs/direct-forcing"

# All methods that can. Parameters of one are no mistake for the others.
expect_exit 0 "$flotsam" compare $one box.json --set method.response=global --set method.correction_time=0.3
expect_text out "page     runs/compare-box/index.html"
page=runs/compare-box
expect_page $page/index.html
expect_word "A box & <water>"
expect_word "wcsph cannot run this scene"
expect_word "Final positions of bodies"
expect_word "crate.y"
expect_word "it floats"
expect_word "20.0 & fewer"
grep -qF '<th>Paper</th><th class="n">Wanted</th>' $page/index.html || fail "no column for what the paper has"
expect_word "flotsam run box.json --method direct-forcing --set method.response=global --out runs/box-direct-forcing"
expect_word "flotsam run box.json --method monolithic --set method.correction_time=0.3 --out runs/box-monolithic"
expect_word "kinetic energy [J/m]"
expect_json $page/runs/monolithic/run/summary.json "d['method'], d['parameters']['max_iterations'], d['parameters']['correction_time']" \
  "('monolithic', 30, 0.3)"
expect_json $page/runs/direct-forcing/run/summary.json "d['method'], 'correction_time' in d['parameters']" "('direct-forcing', False)"
# Parameters that go by words in scenes do so here, too.
expect_json $page/runs/direct-forcing/run/summary.json "d['parameters']['response'], d['parameters']['viscosity']" "('global', 'automatic')"
expect_json $page/runs/monolithic/run/summary.json "d['parameters']['solver']" nncg
grep -qF '<td>response</td><td class="n">–</td><td class="n">global</td>' $page/index.html || fail "no word for the response on the page"
(($(sed -n 's/^pictures //p' words) == 15)) || fail "not three pictures of each of five methods: $(head -1 words)"
# Each plot shows all, in the same order, and nothing is drawn twice under one name.
for method in monolithic direct-forcing constraint elastic unified; do
  n=$(grep -c "^$method$" words)
  ((n >= 4)) || fail "$method stands in $n places only"
done
# The same moments: pictures of both runs have the same numbers.
[[ $(cd $page/runs/monolithic/pictures && echo *.png) == $(cd $page/runs/direct-forcing/pictures && echo *.png) ]] ||
  fail "the pictures are of different moments"

# Again: nothing is run or drawn. Another value runs again what has that parameter, and draws all for the common camera.
before=$(changed $page/runs/*/run/* $page/runs/*/pictures/*)
expect_exit 0 "$flotsam" compare $one box.json --set method.response=global --set method.correction_time=0.3
[[ $(changed $page/runs/*/run/* $page/runs/*/pictures/*) == "$before" ]] || fail "something was made again"
kept=$(changed $page/runs/monolithic/run/summary.json) drawn=$(changed $page/runs/monolithic/pictures/*.png)
expect_exit 0 "$flotsam" compare $one box.json --set method.response=local --set method.correction_time=0.3 --quiet
expect_empty out
[[ $(changed $page/runs/monolithic/run/summary.json) == "$kept" ]] || fail "a run that does not know the parameter was made again"
[[ $(changed $page/runs/monolithic/pictures/*.png) != "$drawn" ]] || fail "the pictures have another camera than the new run's"

# A method that diverges is shown beside the other; an expectation that one misses is told by the exit code.
expect_exit 1 "$flotsam" compare $one plain.json --methods wcsph,monolithic --set duration=0.04 --set time_step=0.02 --out wild
expect_page wild/index.html
expect_word "diverged"
expect_exit 3 "$flotsam" compare $one plain.json --methods wcsph,monolithic --size draft --set expect.0.max=10 --set expect.0.min=0 --out missed
expect_page missed/index.html
grep -qF '<th>Paper</th>' missed/index.html && fail "a column for what a paper has, where the scene tells nothing of it"
expect_word "✗"

# What makes the camera common: a frame that two runs share is drawn the same, and not as one of them would by itself.
small="--width 320 --height 180 --force" # with a legend
expect_exit 0 "$flotsam" run --threads 1 tiny.json --frames 1 --no-picture --quiet --out short
expect_exit 0 "$flotsam" run --threads 1 tiny.json --frames 5 --no-picture --quiet --out longer
expect_exit 0 "$flotsam" render short --with longer --frame 0 --out one.png $small
expect_exit 0 "$flotsam" render longer --with short --frame 0 --out other.png $small
expect_exit 0 "$flotsam" render short --frame 0 --out alone.png $small
cmp -s one.png other.png || fail "two runs with each other are drawn differently"
cmp -s one.png alone.png && fail "--with changes nothing"
expect_exit 2 "$flotsam" render short --with nowhere --frame 0 --out alone.png $small
expect_text err "nowhere: is not the folder of a run"

# Cut off, it goes on.
"$flotsam" compare $one plain.json --methods wcsph,monolithic --set spacing=0.02 --set duration=1 --set frames_per_second=5 \
  --set expect=[] --out cut >out 2>err &
job=$!
for ((k = 0; k < 400; k++)); do
  [[ -e cut/runs/wcsph/run/particles_0001.vtp ]] && break
  sleep 0.05
done
kill -s INT "$job" 2>/dev/null || fail "the comparison ended before the signal"
kill -s TERM "$job" 2>/dev/null # background jobs of scripts ignore the other
wait "$job"
(($? == 1)) || fail "the exit code of an interrupted comparison is not 1"
expect_page cut/index.html
expect_word "waiting"
expect_exit 0 "$flotsam" compare $one plain.json --methods wcsph,monolithic --set spacing=0.02 --set duration=1 --set frames_per_second=5 \
  --set expect=[] --out cut
expect_text cut/runs/wcsph/run/log.txt "continuing at"
[[ -z $(find . -name '*.tmp') ]] || fail "temporary files were left: $(find . -name '*.tmp')"
finish
