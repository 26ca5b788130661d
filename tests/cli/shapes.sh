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
expect_text err "none.obj"
head -3 cube.obj >cut.obj
scene ', { "shape": { "mesh": "cut.obj" } }' ''
expect_exit 2 "$flotsam" run scene.json --out never
expect_text err "cut.obj"
expect_no_file never

# What is doubtful is noted.
scene ', { "name": "a", "shape": { "box": 0.3 }, "at": [0.4, 0.4, 0.6] }, { "name": "b", "shape": { "sphere": 0.2 }, "at": [0.5, 0.5, 0.6] }' ''
expect_exit 0 "$flotsam" check scene.json
expect_text out "'b' stands in 'a'"
scene ', { "name": "sheet", "shape": { "box": [0.5, 0.5, 0.01] }, "at": [0.5, 0.5, 0.7] }' ''
expect_exit 0 "$flotsam" check scene.json
expect_text out "'sheet' is 0.01 m thin"
scene '' ', "fluids": [ { "material": "water", "shape": { "box": 0.2 }, "at": [3, 0, 0] } ]'
expect_exit 0 "$flotsam" check scene.json
expect_text out "64 of 3264 fluid particles start outside of every tank"
scene '' ''
expect_exit 2 "$flotsam" check scene.json --set fills.0.level=1.5
expect_text err "/fills/0: fill: fluid would run out near"

# An event adds fluid when its time has come.
scene '' ', "events": [ { "at": 0.025, "add": { "material": "water", "shape": { "sphere": 0.1 }, "at": [0.5, 0.5, 0.8] } } ]'
expect_exit 0 "$flotsam" run scene.json --out run --no-picture
expect_text run/log.txt "at 0.025 s: "
expect_file run/particles_0002.vtp
# The resolved scene runs again to the same state.
expect_exit 0 "$flotsam" run run/scene.json --out again --no-picture
expect_json again/summary.json "d['state_hash'] == '$(json run/summary.json "d['state_hash']")'" True
finish
