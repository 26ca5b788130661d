# Shapes, meshes, vessels, events: from a scene to particles, and what check has to say about them.
source "$(dirname "$0")/common.sh"

cat >cube.obj <<'OBJ'
v 0 0 0
v 200 0 0
v 200 200 0
v 0 200 0
v 0 0 200
v 200 0 200
v 200 200 200
v 0 200 200
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
OBJ
sed '$d' cube.obj >open.obj

scene() { # BOUNDARIES MORE: a tank with them in it
  cat >scene.json <<JSON
{ "schema_version": 1, "spacing": 0.05, "duration": 0.04, "frames_per_second": 50, "materials": { "water": {} },
  "boundaries": [ { "name": "tank", "shape": { "tank": [1, 1, 1] } } $1 ],
  "fills": [ { "material": "water", "seed": [0.9, 0.9, 0.1], "level": 0.4 } ] $2 }
JSON
}

# A mesh of millimetres, read from beside the scene, displaces as much as the box that it is.
scene ', { "name": "cube", "shape": { "mesh": "cube.obj", "scale": 0.001 }, "at": [0.2, 0.2, 0] }' ''
expect_exit 0 "$flotsam" check scene.json --json
expect_json out "d['fluid_particles']" $((20 * 20 * 8 - 4 * 4 * 4))
expect_json out "d['notes']" "[]"
expect_json out "[p['name'] for p in d['parts']]" "['water', 'tank', 'cube']"

scene ', { "name": "cube", "shape": { "mesh": "open.obj", "scale": 0.001 }, "at": [0.2, 0.2, 0] }' ''
expect_exit 0 "$flotsam" check scene.json
expect_text out "open: 4 boundary edges"
scene ', { "shape": { "mesh": "none.obj" } }' ''
expect_exit 2 "$flotsam" check scene.json
expect_text err "scene.json: /boundaries/1/shape/mesh: "
expect_text err "there is no mesh file '$(pwd -P)/none.obj' (relative paths start at the folder of the file that names"
# From another folder the same file is looked for.
mkdir elsewhere
(cd elsewhere && "$flotsam" check ../scene.json >../out 2>../err)
(($? == 2)) || fail "a mesh that is not there was found from elsewhere"
expect_text err "there is no mesh file '$(pwd -P)/none.obj'"
scene ', { "shape": { "mesh": "no/folder/none.obj" } }' ''
expect_exit 2 "$flotsam" check scene.json
expect_text err "there is no mesh file 'no/folder/none.obj'"
head -3 cube.obj >cut.obj
scene ', { "shape": { "mesh": "cut.obj" } }' ''
expect_exit 2 "$flotsam" run scene.json --out never
expect_text err "cut.obj"
expect_no_file never

scene ', { "shape": { "mesh": "cubo.obj" } }' ''
expect_exit 2 "$flotsam" check scene.json
expect_text err "did you mean 'cube.obj'?"
printf 'v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n' >flat.obj
scene ', { "shape": { "mesh": "flat.obj" } }' ''
expect_exit 2 "$flotsam" check scene.json
expect_text err "flat.obj: none of its triangles has an area"
scene ', { "shape": { "mesh": "cube.obj", "scale": 1e5 } }' ''
expect_exit 2 "$flotsam" check scene.json
expect_text err "cube.obj: is 2e+07 m large, at most 1e+06 m are allowed; use a smaller 'scale'"

# A mesh is looked for beside the file that names it, however deep that is included, in lists and in groups.
mkdir -p parts/deep
sed 's/200/400/g' cube.obj >parts/deep/cube.obj
cat >parts/deep/cubes.json <<'JSON'
{ "boundaries": [ { "name": "large", "shape": { "mesh": "cube.obj", "scale": 0.001 }, "at": [0.5, 0.5, 0] } ],
  "groups": { "pair": { "boundaries": [ { "shape": { "mesh": "cube.obj", "scale": 0.0005 }, "at": [0, 0, 0],
    "grid": { "count": [1, 2, 1], "step": [1, 0.3, 1], "from": "corner" } } ] } } }
JSON
echo '{ "include": "deep/cubes.json" }' >parts/more.json
scene ', { "name": "small", "shape": { "mesh": "cube.obj", "scale": 0.001 }, "at": [0.2, 0.2, 0] }' \
  ', "include": "parts/more.json", "place": [ { "group": "pair", "at": [0.7, 0, 0] } ]'
expect_exit 0 "$flotsam" check scene.json --json
expect_json out "d['fluid_particles']" $((20 * 20 * 8 - 4 * 4 * 4 - 8 * 8 * 8 - 2 * 4 * 4 * 4))

# What is doubtful is noted.
scene ', { "name": "a", "shape": { "box": 0.3 }, "at": [0.4, 0.4, 0.6] }, { "name": "b", "shape": { "sphere": 0.2 }, "at": [0.5, 0.5, 0.6] }' ''
expect_exit 0 "$flotsam" check scene.json
expect_text out "'a' overlaps 'b'"
scene ', { "name": "sheet", "shape": { "box": [0.5, 0.5, 0.01] }, "at": [0.5, 0.5, 0.7] }' ''
expect_exit 0 "$flotsam" check scene.json
expect_text out "'sheet' is 0.01 m thin"
scene ', { "name": "near", "shape": { "box": 0.2 }, "corner": [0.01, 0.4, 0] }' ''
expect_exit 0 "$flotsam" check scene.json
expect_text out "the gap between 'near' and 'tank' is 0.01 m"
scene ', { "name": "pipe", "shape": { "tube": [0.3, 0.295, 0.3] }, "base": [0.5, 0.5, 0.5] }' ''
expect_exit 0 "$flotsam" check scene.json
expect_text out "'pipe' has walls 0.005 m thin"
scene '' ', "fluids": [ { "material": "water", "shape": { "box": 0.2 }, "at": [3, 0, 0] } ]'
expect_exit 0 "$flotsam" check scene.json
expect_text out "64 of 3264 fluid particles will fall for ever, because nothing is below them"
scene '' ''
expect_exit 2 "$flotsam" check scene.json --set fills.0.level=1.5
expect_text err "/fills/0: fill: fluid would run out near"

# An outline displaces as much as the two boxes that it is; clockwise or not, and as a prism stood up along y.
ell='[[0, 0], [0.6, 0], [0.6, 0.2], [0.2, 0.2], [0.2, 0.4], [0, 0.4]]'
clockwise='[[0, 0], [0, 0.4], [0.2, 0.4], [0.2, 0.2], [0.6, 0.2], [0.6, 0]]'
for points in "$ell" "$clockwise"; do
  cat >flat.json <<JSON
{ "schema_version": 1, "dimension": 2, "spacing": 0.02, "duration": 0.04,
  "boundaries": [ { "shape": { "tank": [1, 1] } }, { "name": "ell", "shape": { "outline": { "points": $points } } } ],
  "fluids": [ { "material": {}, "shape": { "box": [1, 0.6] }, "corner": [0, 0] } ] }
JSON
  expect_exit 0 "$flotsam" check flat.json --json
  expect_json out "d['fluid_particles']" $((50 * 30 - 30 * 10 - 10 * 10))
  expect_json out "d['notes']" "[]"
  scene ", { \"name\": \"ell\", \"shape\": { \"outline\": { \"points\": $points, \"depth\": 0.4 } },
    \"at\": [0.1, 0.5, 0], \"rotate\": { \"axis\": [1, 0, 0], \"angle\": 90 } }" ''
  expect_exit 0 "$flotsam" check scene.json --json
  expect_json out "d['fluid_particles']" $((20 * 20 * 8 - 8 * (12 * 4 + 4 * 4)))
done
expect_exit 0 "$flotsam" run flat.json --frames 1 --out flat
expect_file flat/picture.png

# Close packing leaves up to a row free at the far walls, and no more.
expect_exit 0 "$flotsam" check flat.json --set fluids.0.packing=hexagonal --json
expect_json out "0.9 < d['fluid_particles'] / 1100 < 1" True
expect_exit 0 "$flotsam" check scene.json --set fills.0.packing=hexagonal --json
expect_json out "0.7 < d['fluid_particles'] / 2688 < 1" True

# Samples: evened out, and nearer to the surface.
scene ', { "name": "duck", "shape": { "duck": 0.5 }, "at": [0.5, 0.5, 0.6] }' ''
expect_exit 0 "$flotsam" run scene.json --frames 0 --no-picture --out plain
expect_exit 0 "$flotsam" run scene.json --frames 0 --no-picture --out relaxed --set boundaries.duck.relax=true
expect_exit 0 "$flotsam" run scene.json --frames 0 --no-picture --out near --set boundaries.duck.inset=0.01
[[ $(json plain/summary.json "d['state_hash']") != $(json relaxed/summary.json "d['state_hash']") ]] || fail "relax does nothing"
[[ $(json plain/summary.json "d['state_hash']") != $(json near/summary.json "d['state_hash']") ]] || fail "inset does nothing"
expect_exit 2 "$flotsam" check scene.json --set boundaries.duck.inset=0.06
expect_text err "/boundaries/1/inset: must be at most one spacing"

# An event adds fluid when its time has come.
scene '' ', "events": [ { "at": 0.025, "add": { "material": "water", "shape": { "sphere": 0.1 }, "at": [0.5, 0.5, 0.8] } } ]'
expect_exit 0 "$flotsam" run scene.json --out run --no-picture
expect_text run/log.txt "at 0.025 s: "
expect_file run/particles_0002.vtp
# The resolved scene runs again to the same state.
expect_exit 0 "$flotsam" run run/scene.json --out again --no-picture
expect_json again/summary.json "d['state_hash'] == '$(json run/summary.json "d['state_hash']")'" True
finish
