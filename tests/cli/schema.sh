# The JSON Schema and the reference of scene files: up to date, and of one mind with the program.
source "$(dirname "$0")/common.sh"
root=$here/../..

expect_current() { # FILE command...
  local file=$1
  shift
  expect_exit 0 "$@"
  cmp -s out "$root/$file" || fail "$file is not what '${*##*/}' prints; run it again and keep its output"
}

expect_current docs/scene.schema.json "$flotsam" info schema
expect_current docs/scene-reference.md "$flotsam" info scene-keys --markdown

expect_exit 0 "$flotsam" info shapes
expect_text out "tank"
expect_exit 0 "$flotsam" info scene-keys
expect_text out "frames_per_second"
expect_exit 0 "$flotsam" info scene-keys --json
expect_json out "d[0]['name']" scene
expect_json out "all(k['help'] for t in d for k in t['keys'])" True
expect_exit 2 "$flotsam" info methods --markdown
expect_exit 2 "$flotsam" info scene-kyes
expect_text err "did you mean 'scene-keys'?"

if ! python3 -c 'import jsonschema' 2>/dev/null; then
  ((n_failed == 0)) || finish
  echo "skipped: the Python module jsonschema is not installed"
  exit 77
fi

cat >validate.py <<'END'
import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft7Validator.check_schema(schema)
if sys.argv[2] == "part":  # of a scene, which includes it: it need not have all that a scene must have
    del schema["if"], schema["else"]
validator = jsonschema.Draft7Validator(schema)
n_wrong = 0
for path in sys.argv[3:]:
    errors = list(validator.iter_errors(json.load(open(path))))
    if (len(errors) > 0) == (sys.argv[2] == "broken"):
        continue
    n_wrong += 1
    print(f"{path} is {'refused' if errors else 'let pass'}: {open(path).read()[:2000]}")
    for error in errors:
        print(f"    /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
sys.exit(n_wrong > 0)
END
schema=$root/docs/scene.schema.json

# Scenes that come with the program, and what the program makes of one.
expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --out run
expect_exit 0 python3 validate.py "$schema" fine "$root"/scenes/*.json "$root"/scenes/bench/*.json run/scene.json
expect_exit 0 python3 validate.py "$schema" part "$root"/scenes/parts/*.json

# A scene that has everything is fine for both.
cat >all.json <<'END'
{ "$schema": "docs/scene.schema.json", "schema_version": 1, "title": "all", "spacing": "s", "duration": 1, "support": 2,
  "constants": { "s": 0.1 }, "sizes": { "fine": { "s": 0.05 } }, "method": { "alpha": "0.1 * s" },
  "materials": { "water": { "density": 1000, "colour": "#3355Ff" } },
  "fluids": [ { "material": "water", "shape": { "box": [0.4, 0.4, "4 * s"] }, "at": ["i", 2, 0], "velocity": ["y", 0, 0], "packing": "hexagonal",
                "grid": { "count": [2, 1, 1], "step": [1, 0, 0], "from": "corner" } } ],
  "boundaries": [
    { "name": "a", "shape": { "sphere": 0.2 }, "look": "#a0b0c0", "base": [0, 0, 0], "stack": { "rows": 2 } },
    { "name": "e", "shape": { "outline": { "points": [[0, 0], [1, 0], ["10 * s", 0.4], [0, 1]], "depth": 0.5 } }, "at": [0, 8, 0],
      "look": "wood", "relax": true, "inset": "s / 4" },
    { "name": "b", "shape": { "box": 0.2 }, "at": [0, 0, 3], "circle": { "count": 3, "radius": 2, "facing": true },
      "motions": [ { "rotate": { "rate": 1 } } ] },
    { "name": "c", "shape": { "box": 0.2 }, "at": [0, 0, 6], "scatter": { "count": 3, "within": [2, 2, 1], "apart": 0.3 } } ],
  "groups": { "g": { "boundaries": [ { "name": "d", "shape": { "box": 0.3 } } ] } },
  "place": [ { "group": "g", "at": [0, 5, 0], "rotate": { "angle": 30 } } ],
  "emitters": [ { "name": "jet", "material": { "viscosity": 1e-3 }, "at": [-1, 0, 0], "direction": [1, 0, 0], "size": [0.2, 0.2], "speed": 1 } ],
  "events": [ { "at": 0.5, "emitter": "jet", "stop": true },
              { "at": 0.6, "add": { "material": "water", "shape": { "box": 0.2 } } } ],
  "probes": [ { "name": "push", "force": "g: d" } ],
  "expect": [ { "measurement": "push.x", "max": 1, "paper": "0.9" }, { "figure": "iterations", "paper": "20.0 on average" } ],
  "camera": { "from": [3, 3, 3], "look_at": [0, 0, 0] } }
END
expect_exit 0 "$flotsam" check all.json
cat >fill.json <<'END'
{ "schema_version": 1, "spacing": 0.1, "duration": 1, "boundaries": [ { "shape": { "tank": 1 } } ],
  "fills": [ { "material": {}, "seed": [0.5, 0.5, 0.2], "level": 0.5, "packing": "hexagonal" } ] }
END
expect_exit 0 "$flotsam" check fill.json
expect_exit 0 python3 validate.py "$schema" fine all.json fill.json

# Broken ones are refused by both: each line changes the document d.
cat >changes.txt <<'END'
d['sapcing'] = 1
del d['spacing']
del d['fluids']
d['schema_version'] = 2
d['spacing'] = -1
d['spacing'] = True
d['gravity'] = 1e30
d['support'] = 1
d['up'] = 'w'
d['kernel'] = 'cubic'
d['method'] = 'lattice'
d['method'] = {'name': 'wcsph', 'alfa': 1}
d['method'] = {'alpha': -1}
d['constants'] = {'2a': 1}
d['include'] = 1
d['fluids'] = {}
d['fluids'][0]['colour'] = 'red'
d['fluids'][0]['shape'] = {}
d['fluids'][0]['shape'] = {'box': 1, 'sphere': 1}
d['fluids'][0].update(at=[0, 0, 0], corner=[0, 0, 0])
d['fluids'][0].update(grid={'count': [1, 1, 1]}, stack={'rows': 1})
d['fluids'][0]['grid'] = {'count': [1, 1, 1e12]}
d['fluids'][0]['packing'] = 'loose'
d['fluids'][0]['shape'] = {'outline': {'points': [[0, 0], [1, 1]], 'depth': 1}}
d['fluids'][0]['shape'] = {'outline': {'points': [[0, 0], [1, 0, 0], [0, 1]], 'depth': 1}}
d['fluids'][0]['shape'] = {'outline': {'points': [0, 1, 2], 'depth': 1}}
d['fluids'][0]['shape'] = {'outline': {'depth': 1}}
d['boundaries'] = [{'shape': {'box': 0.1}, 'look': 'shiny'}]
d['boundaries'] = [{'shape': {'box': 0.1}, 'look': '#3355f'}]
d['materials']['water']['colour'] = 'blue'
d['boundaries'] = [{'shape': {'box': 0.1}, 'relax': 'yes'}]
d['boundaries'] = [{'shape': {'box': 0.1}, 'inset': 0}]
d['boundaries'] = [{'shape': {'box': 1}, 'motions': [{}]}]
d['boundaries'] = [{'shape': {'box': 1}, 'name': 'a/b'}]
d['events'] = [{'at': 0.01, 'add': {'shape': {'box': 1}}}]
d['events'] = [{'at': -1, 'emitter': 'a', 'stop': True}]
d['probes'] = [{'name': 'p'}]
d['expect'] = [{'max': 0}]
d['expect'] = [{'measurement': 'removed', 'figure': 'removed', 'max': 0}]
d['expect'] = [{'measurement': 'removed'}]
d['expect'] = [{'measurement': 'removed', 'max': 0, 'paper': 0.577}]
END
python3 - <<'END'
import json
for number, change in enumerate(open("changes.txt")):
    d = json.load(open("tiny.json"))
    exec(change)
    json.dump(d, open(f"broken{number}.json", "w"))
END
for broken in broken*.json; do expect_exit 2 "$flotsam" check "$broken"; done
expect_exit 0 python3 validate.py "$schema" broken broken*.json
finish
