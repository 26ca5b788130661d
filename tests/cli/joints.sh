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

for column in coordinate speed fx fy fz tx ty tz load power work open active; do
  head -1 whole/series.csv | tr ',' '\n' | grep -qx "elbow.$column" || fail "series.csv has no column elbow.$column"
done
expect_exit 0 "$flotsam" plot whole --columns 'elbow.load,elbow.speed'

# Bodies that a joint joins may overlap; the check says nothing about it.
sed 's/"at": \[0.7, 0.5\] }/"at": [0.6, 0.5] }/' arm.json > overlap.json
expect_exit 0 "$flotsam" check overlap.json
! grep -q overlaps out || fail "check complains about bodies that pass through each other"

finish
