# Bodies that are pushed around: the same bits with any number of threads, after being killed and with a release and a
# change of friction on the way; and they are in every output.
source "$(dirname "$0")/common.sh"

cat >crates.json <<'END'
{
  "schema_version": 1, "spacing": 0.06, "duration": 0.6, "frames_per_second": 20,
  "method": { "name": "monolithic" },
  "materials": { "water": {}, "oak": { "density": 600, "friction": 0.5 } },
  "boundaries": [ { "name": "tank", "shape": { "tank": [1.5, 0.6, 0.9] }, "corner": [0, 0, 0], "friction": 0.4 } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.6, 0.6, 0.6] }, "corner": [0, 0, 0] } ],
  "bodies": [
    { "name": "crate", "material": "oak", "shape": { "box": 0.24 }, "base": [1.1, 0.3, 0], "stack": { "rows": 2 } },
    { "name": "ball", "material": { "density": 200 }, "shape": { "sphere": 0.12 }, "at": [0.3, 0.3, 0.75] }
  ],
  "events": [
    { "at": 0.2, "body": "ball", "release": true },
    { "at": 0.3, "body": "crate*", "set": { "friction": 0.1, "within": 0.1 } }
  ],
  "probes": [ { "name": "push", "force": "crate 1" } ],
  "expect": [ { "measurement": "penetrations", "max": 0 }, { "measurement": "ball.z", "max": 0.8 } ]
}
END
expect_exit 0 "$flotsam" check crates.json
expect_text out "of bodies"
expect_exit 0 "$flotsam" run crates.json --out whole --threads 1 --quiet --no-picture
hash=$(json whole/summary.json "d['state_hash']")
expect_exit 0 "$flotsam" run crates.json --out three --threads 3 --quiet --no-picture
[[ $(json three/summary.json "d['state_hash']") == "$hash" ]] || fail "three threads give other bits"

# Killed before the release, during the change of friction, and after.
for moment in 0.1 0.35 0.5; do
  rm -rf part
  expect_exit 0 "$flotsam" run crates.json --out part --until $moment --quiet --no-picture
  expect_exit 0 "$flotsam" resume part --until 0.6 --quiet --no-picture
  [[ $(json part/summary.json "d['state_hash']") == "$hash" ]] || fail "resumed from $moment s it gives other bits"
  cmp -s part/bodies.csv whole/bodies.csv || fail "resumed from $moment s bodies.csv differs"
done

expect_exit 0 "$flotsam" convert whole --frame 6 --to csv
grep -q ",rigid," out || { fail "no samples of bodies in the CSV:"; head -3 out; }
# Behind the usual columns those of the method.
[[ $(head -1 out) == id,type,body,x,y,z,vx,vy,vz,density,pressure,*friction_x,friction_y,friction_z* ]] ||
  fail "the method's fields are not in the CSV: $(head -1 out)"
python3 -c 'import csv; r = [float(x["friction_x"]) for x in csv.DictReader(open("out")) if x["type"] == "rigid"]; exit(not any(r))' ||
  fail "no friction in the CSV"
expect_file whole/body_ball.ply
expect_exit 0 "$flotsam" info whole --json
expect_json out "d['problems']" "[]"
rm three/body_ball.ply
expect_exit 0 "$flotsam" info three --json
expect_json out "d['problems']" "['1 of 4 files body_NAME.ply are missing']"
# Held until its release: it has not moved in the frames before.
python3 - whole/bodies.csv <<'END' || fail "the ball did not wait for its release"
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["body"] == "ball"]
held = [float(r["z"]) for r in rows if float(r["time"]) <= 0.2]
sys.exit(not (len(set(held)) == 1 and float(rows[-1]["z"]) < held[0] - 0.05))
END

# Bodies in each other: noted by check, refused where the scene asks for it, pushed apart otherwise. And what the log says
# of a body between closing walls.
cat >heap.json <<'END'
{
  "schema_version": 1, "spacing": 0.05, "duration": 0.6, "frames_per_second": 10,
  "method": { "name": "monolithic" },
  "boundaries": [
    { "name": "floor", "shape": { "box": [1, 1, 0.2] }, "at": [0, 0, -0.1] },
    { "name": "left jaw", "shape": { "box": [0.2, 1, 1] }, "at": [2.0, 0, 0.5] },
    { "name": "right jaw", "shape": { "box": [0.2, 1, 1] }, "at": [2.6, 0, 0.5],
      "motions": [ { "translate": [-0.5, 0, 0] } ] },
    { "name": "sill", "shape": { "box": [0.5, 1, 0.2] }, "at": [2.3, 0, -0.1] }
  ],
  "bodies": [
    { "name": "lower", "material": {}, "shape": { "box": 0.4 }, "base": [0, 0, 0] },
    { "name": "upper", "material": {}, "shape": { "box": 0.4 }, "base": [0, 0, 0.3] },
    { "name": "nut", "material": {}, "shape": { "box": 0.3 }, "base": [2.3, 0, 0] },
    { "name": "crumb", "material": {}, "shape": { "box": 0.06 }, "at": [-3, 0, 1] }
  ],
  "expect": [ { "measurement": "upper.z", "min": 0.58, "max": 0.61 } ]
}
END
expect_exit 0 "$flotsam" check heap.json
expect_text out "overlaps 'lower'"
expect_text out "'crumb' is 0.06 m large, less than two spacings (0.1 m):"
expect_text out "'crumb' will fall for ever, because nothing is below it; put a boundary below it"
expect_exit 2 "$flotsam" check heap.json --set overlaps=refuse
expect_text err "'lower' and 'upper' overlap by 0.1 m (2 spacings); move them apart"
expect_exit 2 "$flotsam" run heap.json --set overlaps=keep --out nothing --no-picture --quiet
expect_text err "overlaps: "
expect_exit 0 "$flotsam" run heap.json --out heap --no-picture --quiet
expect_text heap/log.txt "s 'nut' is squeezed between 'left jaw' and 'right jaw'"
[[ $(grep -c "is squeezed" heap/log.txt) == 1 ]] || fail "a squeeze is not told once: $(grep squeezed heap/log.txt)"
finish
