# A run folder holds the files that its scene names: it can be moved, and they can go.
source "$(dirname "$0")/common.sh"

mkdir models
cat >"models/my cube.obj" <<'END'
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
END
python3 - >models/drops.csv <<'PYTHON'
print("x,y,z")
for k in range(40): print(f"{0.1 + 0.1 * (k % 8)},{0.1 + 0.1 * (k // 8)},1.25")
PYTHON
cat >mesh.json <<'END'
{ "schema_version": 1, "spacing": 0.1, "duration": 0.2, "frames_per_second": 50, "materials": { "water": {} },
  "constants": { "mesh": 1 },
  "boundaries": [ { "name": "cube", "shape": { "mesh": "models/my cube.obj" }, "at": [0, 0, 0] },
                  { "name": "half", "shape": { "mesh": "models/my cube.obj", "scale": 0.5 }, "at": [3, 0, 0] } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.5, 0.5, 0.3] }, "at": [0.5, 0.5, 1.6] } ],
  "particles": [ { "material": "water", "file": "models/drops.csv" } ] }
END

expect_exit 0 "$flotsam" run mesh.json --no-picture --quiet --out whole
expect_exit 0 "$flotsam" run mesh.json --until 0.1 --no-picture --quiet --out part
(($(ls part/assets | wc -l) == 2)) || fail "not two assets: $(ls part/assets)"
cube=$(cd part && echo assets/my_cube-*.obj)
[[ $cube =~ ^assets/my_cube-[0-9a-f]{16}\.obj$ ]] || fail "odd name: $cube"
cmp -s "part/$cube" "models/my cube.obj" || fail "the copy differs"
expect_json part/scene.json "[b['shape']['mesh'] for b in d['boundaries']]" "['$cube', '$cube']"
expect_json part/scene.json "d['particles'][0]['file'].startswith('assets/drops-')" True
grep -q "$work" part/scene.json && fail "the stored scene names a place outside"

# ---- The originals go, the folder moves ----

hash_of() { json "$1/summary.json" "d['state_hash']"; }
mv models gone
mkdir elsewhere
mv part elsewhere/moved
expect_exit 0 "$flotsam" resume elsewhere/moved --until 0.2 --quiet
expect_empty err
[[ $(hash_of elsewhere/moved) == "$(hash_of whole)" ]] || fail "another state after the move"
expect_json elsewhere/moved/summary.json "d['scene'], d['name']" "('mesh.json', 'mesh')"
expect_json elsewhere/moved/scene.json "d['boundaries'][0]['shape']['mesh']" "$cube"
expect_exit 0 "$flotsam" render elsewhere/moved --width 64 --height 48 --out picture.png
expect_exit 0 "$flotsam" check elsewhere/moved/scene.json

# Run again from what was stored: a copy of a copy has the same name; the folder's name is the run's.
expect_exit 0 "$flotsam" run elsewhere/moved/scene.json --no-picture --quiet
expect_file runs/moved/summary.json
[[ $(ls runs/moved/assets) == "$(ls whole/assets)" ]] || fail "other assets: $(ls runs/moved/assets)"
[[ $(hash_of runs/moved) == "$(hash_of whole)" ]] || fail "another state from the stored scene"
expect_exit 2 "$flotsam" run runs/moved/scene.json --no-picture --quiet
expect_text err "runs/moved: exists and is not empty; replace"
(cd runs/moved && expect_exit 0 "$flotsam" run scene.json --no-picture --quiet --frames 0 && expect_file runs/moved/summary.json)

# Into its own folder: what it is made from stays. So do files of others; assets of an older scene go.
echo mine >runs/moved/assets/notes.txt
echo mine >runs/moved/assets/cube-0123.obj
echo old >runs/moved/assets/old-0123456789abcdef.obj
expect_exit 0 "$flotsam" run runs/moved/scene.json --out runs/moved --force --no-picture --quiet
[[ $(hash_of runs/moved) == "$(hash_of whole)" ]] || fail "another state in its own folder"
expect_text runs/moved/assets/notes.txt mine
expect_text runs/moved/assets/cube-0123.obj mine
expect_no_file runs/moved/assets/old-0123456789abcdef.obj
expect_exit 0 "$flotsam" run tiny.json --out whole --force --frames 0 --no-picture --quiet
expect_no_file whole/assets

# The scene of a divergence too, though its particles lie in the folder that is replaced.
expect_exit 1 "$flotsam" run tiny.json --set time_step=0.05 --no-picture --quiet --out burst
expect_exit 1 "$flotsam" run burst/diverged.json --out burst --force --no-picture --quiet
expect_text err "flotsam: at "
expect_file burst/assets/diverged-*.csv

# ---- Long names, and extensions with a dash ----

for length in 83 84 99 100 120; do
  long=$(printf 'l%.0s' $(seq $length))
  cp gone/drops.csv "$long.csv"
  cat >long.json <<END
{ "schema_version": 1, "spacing": 0.1, "duration": 0.2, "frames_per_second": 50,
  "particles": [ { "material": {}, "file": "$long.csv" } ] }
END
  rm -rf long
  expect_exit 0 "$flotsam" run long.json --frames 1 --no-picture --quiet --out long
  before=$(ls long/assets)
  (($(wc -w <<<"$before") == 1)) || fail "stem of $length: not one asset: $before"
  rm "$long.csv"
  for frames in 2 3; do
    expect_exit 0 "$flotsam" resume long --frames $frames --quiet
    [[ $(ls long/assets) == "$before" ]] || fail "stem of $length: other assets: $(ls long/assets)"
  done
  expect_exit 0 "$flotsam" check long/scene.json
done
# A resumed run clears away what nobody needs, behind a checkpoint of its own.
echo old >long/assets/old-0123456789abcdef.csv
expect_exit 0 "$flotsam" resume long --frames 4 --quiet
[[ $(ls long/assets) == "$before" ]] || fail "after resuming: other assets: $(ls long/assets)"

cp gone/drops.csv p.2024-01
sed "s/$long.csv/p.2024-01/" long.json >dash.json
expect_exit 0 "$flotsam" run dash.json --frames 1 --no-picture --quiet --out dash
[[ $(ls dash/assets) =~ ^p-[0-9a-f]{16}\.2024_01$ ]] || fail "odd name: $(ls dash/assets)"
before=$(ls dash/assets)
rm p.2024-01
expect_exit 0 "$flotsam" resume dash --frames 2 --quiet
[[ $(ls dash/assets) == "$before" ]] || fail "other assets: $(ls dash/assets)"

# ---- What cannot be gone on with ----

cp -r elsewhere/moved changed
sed -i 's/^v 1 1 1$/v 1 1 1.1/' "changed/$cube"
expect_exit 2 "$flotsam" resume changed --until 0.3
expect_text err "a mesh file may have changed"
expect_file changed/summary.json
rm "changed/$cube"
expect_exit 2 "$flotsam" resume changed --until 0.3
expect_text err "$cube"

# ---- A full disk: one error, and no part of a copy ----

mv gone models
python3 -c 'print("# comment\n" * 2000)' >>"models/my cube.obj"
(
  trap '' XFSZ
  ulimit -f 8
  "$flotsam" run mesh.json --no-picture --out full >out 2>err
)
(($? == 1)) || fail "a full disk went unnoticed"
expect_text err "full/assets/my_cube-"
expect_text err "cannot write: File too large"
(($(wc -l <err) == 1)) || fail "more than one error: $(<err)"
[[ -z $(find full -name '*.tmp' -o -name '*.obj') ]] || fail "half a file was left"
finish
