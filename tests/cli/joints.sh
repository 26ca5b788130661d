# Joints as a user meets them: a scene with a motor, a rope and events; threads, resumed runs, columns, check.
source "$(dirname "$0")/common.sh"

cat > arm.json <<'END'
{
  "schema_version": 1, "dimension": 2, "spacing": 0.05, "duration": 0.6, "frames_per_second": 10,
  "boundaries": [ { "name": "tank", "shape": { "tank": [1, 0.8] } } ],
  "fluids": [ { "material": {}, "shape": { "box": [1, 0.3] }, "corner": [0, 0] } ],
  "bodies": [
    { "name": "arm", "material": { "density": 800 }, "shape": { "box": [0.3, 0.1] }, "at": [0.4, 0.5] },
    { "name": "base", "material": { "density": 800 }, "shape": { "box": [0.3, 0.1] }, "at": [0.7, 0.5] }
  ],
  "joints": [
    { "name": "elbow", "hinge": "arm", "to": "base", "at": [0.55, 0.5], "motor": { "speed": 4, "max_torque": 100 },
      "limits": [-1, 1], "friction": 0.1, "break_force": 1e5 },
    { "name": "line", "rope": "base", "at": [0.8, 0.5], "to_at": [0.8, 0.75], "length": 0.3 }
  ],
  "events": [
    { "at": 0.35, "joint": "elbow", "set": { "motor.speed": -4, "limits.high": 2 } },
    { "at": 0.45, "joint": "line", "release": true }
  ],
  "expect": [ { "measurement": "elbow.open.max", "max": 1e-6 }, { "measurement": "line.active", "max": 0 },
              { "measurement": "elbow.work", "min": 1e-3 } ]
}
END
expect_exit 0 "$flotsam" check arm.json
expect_text out "bodies     2"
expect_text out "joints     2"
expect_text out "hinge of arm to base, with a motor"
expect_text out "rope of base to the world"
expect_exit 0 "$flotsam" check arm.json --json
expect_text out '"kind": "rope"'
for method in monolithic direct-forcing; do
  rm -rf whole three
  expect_exit 0 "$flotsam" run arm.json --method $method --out whole --threads 1 --quiet --no-picture
  hash=$(json whole/summary.json "d['state_hash']")
  expect_exit 0 "$flotsam" run arm.json --method $method --out three --threads 3 --quiet --no-picture
  [[ $(json three/summary.json "d['state_hash']") == "$hash" ]] || fail "$method: three threads give other bits"
  # Killed before the change, between change and release, and after.
  for moment in 0.3 0.4 0.5; do
    rm -rf part
    expect_exit 0 "$flotsam" run arm.json --method $method --out part --threads 2 --until $moment --quiet --no-picture
    expect_exit 0 "$flotsam" resume part --until 0.6 --threads 1 --quiet --no-picture
    [[ $(json part/summary.json "d['state_hash']") == "$hash" ]] || fail "$method: resumed from $moment s it gives other bits"
  done
done

for column in coordinate speed fx fy fz tx ty tz load power work open active peak_force peak_torque; do
  head -1 whole/series.csv | tr ',' '\n' | grep -qx "elbow.$column" || fail "series.csv has no column elbow.$column"
done
expect_exit 0 "$flotsam" plot whole --columns 'elbow.load,elbow.speed'

# Bodies that a joint joins may overlap; the check says nothing about it.
sed 's/"at": \[0.7, 0.5\] }/"at": [0.6, 0.5] }/' arm.json > overlap.json
expect_exit 0 "$flotsam" check overlap.json
! grep -q overlaps out || fail "check complains about bodies that pass through each other"

# Joints of a group go with it, wherever it is placed and however it is turned; other names are those of the scene.
cat > group.json <<'END'
{
  "schema_version": 1, "spacing": 0.05, "duration": 0.3, "frames_per_second": 10, "gravity": 0,
  "groups": { "arm": {
    "bodies": [ { "name": "upper", "material": { "density": 500 }, "shape": { "box": [0.4, 0.1, 0.1] }, "at": [0.2, 0, 0] },
                { "name": "lower", "material": { "density": 500 }, "shape": { "box": [0.4, 0.1, 0.1] }, "at": [0.6, 0, 0] } ],
    "joints": [ { "name": "pair", "gear": "shoulder", "with": "elbow", "ratio": 2 },
                { "name": "shoulder", "hinge": "upper", "to": "post", "at": [0, 0, 0],
                  "motor": { "speed": 1, "max_torque": 1000 } },
                { "name": "elbow", "hinge": "lower", "to": "upper", "at": [0.4, 0, 0] } ] } },
  "boundaries": [ { "name": "post", "shape": { "box": 0.1 }, "at": [0, 0, -3] } ],
  "place": [ { "group": "arm", "name": "a" },
             { "group": "arm", "name": "b", "at": [2, 0, 0], "rotate": { "axis": [1, 0, 0], "angle": 90 } },
             { "group": "arm", "name": "c", "at": [0, 3, 0], "grid": { "count": [2, 1, 1], "step": [2, 1, 1] } } ],
  "events": [ { "at": 0.2, "joint": "c 2: shoulder", "set": { "motor.speed": 0 } } ]
}
END
expect_exit 0 "$flotsam" check group.json
expect_text out "joints     12"
expect_text out "hinge of c 2: lower to c 2: upper"
expect_text out "hinge of b: upper to post, with a motor"
expect_exit 0 "$flotsam" run group.json --out group --threads 1 --quiet --no-picture --until 0.1
expect_exit 0 "$flotsam" resume group --until 0.3 --threads 1 --quiet --no-picture
python3 - <<'END' || fail "joints of groups do not move as they should"
import csv, math, sys
row = list(csv.DictReader(open("group/series.csv")))[-1]
angle = lambda name: float(row[name + ".coordinate"])
turned = all(abs(angle(g + ": shoulder") - t) < 1e-6 and abs(angle(g + ": elbow") + t / 2) < 1e-6
             for g, t in (("a", 0.3), ("b", 0.3), ("c 1", 0.3), ("c 2", 0.2)))
# The hinges of b are turned: its arm rises along z instead of y.
way = 0.4 * math.sin(0.3) + 0.2 * math.sin(0.15)
placed = abs(float(row["a: lower.y"]) - way) < 1e-6 and abs(float(row["b: lower.z"]) - way) < 1e-6
sys.exit(not (turned and placed))
END

# A light link carries a heavy load: the check knows that its swing limits the step.
cat > loaded.json <<'END'
{
  "schema_version": 1, "dimension": 2, "spacing": 0.05, "duration": 1,
  "bodies": [ { "name": "link", "material": { "density": 10 }, "shape": { "box": [0.1, 0.4] }, "at": [0, 0.7] },
              { "name": "load", "material": { "density": 1e5 }, "shape": { "box": [0.4, 0.4] }, "at": [0, 0.25] } ],
  "joints": [ { "name": "top", "hinge": "link", "at": [0, 0.9] },
              { "name": "low", "hinge": "load", "to": "link", "at": [0, 0.45] } ]
}
END
expect_exit 0 "$flotsam" check loaded.json
expect_text out "limited by joints"

# A motor that is too fast is named.
sed 's/"top", "hinge": "link",/"top", "hinge": "link", "motor": { "speed": 1e6, "max_torque": 1e12 },/
     s/"spacing": 0.05,/"spacing": 0.05, "min_time_step": 1e-6,/' loaded.json > fast.json
expect_exit 1 "$flotsam" run fast.json --out fast --quiet --no-picture
expect_text err "limited by motors"
expect_text err "motor of joint 'top'"

# A rope that acts is seen in every picture, a hinge only with --joints. A rope that was released is not seen.
cat > hang.json <<'SCENE'
{
  "schema_version": 1, "dimension": 2, "spacing": 0.05, "duration": 0.02, "frames_per_second": 100,
  "gravity": [0, 0], "title": "hang",
  "boundaries": [ { "name": "tank", "shape": { "tank": [1, 0.8] } } ],
  "bodies": [ { "name": "bob", "material": { "density": 800 }, "shape": { "box": 0.2 }, "at": [0.5, 0.3] } ],
  "joints": [ { "name": "line", "rope": "bob", "to_at": [0.5, 0.7] } ],
  "events": [ { "at": 0.015, "joint": "line", "release": true } ]
}
SCENE
sed 's/"rope": "bob", "to_at": \[0.5, 0.7\]/"hinge": "bob"/' hang.json > turn.json
for scene in hang turn; do
  expect_exit 0 "$flotsam" run $scene.json --out $scene --threads 1 --quiet --no-picture
  for frame in 0 2; do
    expect_exit 0 "$flotsam" render $scene --frame $frame --width 160 --height 90 --out $scene$frame.png --quiet
  done
  expect_exit 0 "$flotsam" render $scene --frame 0 --joints --width 160 --height 90 --out $scene-symbols.png --quiet
done
! cmp -s hang0.png turn0.png || fail "a rope is not seen"
cmp -s hang2.png turn2.png || fail "a rope that was released is seen, or a hinge without --joints"
! cmp -s turn-symbols.png turn0.png || fail "--joints does not show a hinge"
! cmp -s hang-symbols.png hang0.png || fail "--joints does not show a rope"

finish
