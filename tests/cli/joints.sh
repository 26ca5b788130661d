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

for column in coordinate speed fx fy fz tx ty tz load power work open active; do
  head -1 whole/series.csv | tr ',' '\n' | grep -qx "elbow.$column" || fail "series.csv has no column elbow.$column"
done
expect_exit 0 "$flotsam" plot whole --columns 'elbow.load,elbow.speed'

# Bodies that a joint joins may overlap; the check says nothing about it.
sed 's/"at": \[0.7, 0.5\] }/"at": [0.6, 0.5] }/' arm.json > overlap.json
expect_exit 0 "$flotsam" check overlap.json
! grep -q overlaps out || fail "check complains about bodies that pass through each other"

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

finish
