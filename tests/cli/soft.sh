# Runs of cloth and elastic bodies: their files, the same bits after an interruption and for any threads, and pictures.
source "$(dirname "$0")/common.sh"
cp "$here/soft.json" .

without_wall_seconds() {
  awk -F, -v OFS=, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "wall_seconds") wall = k } { $wall = ""; print }' "$1/series.csv"
}

# same_run FOLDER: everything but the wall clock is as in the run that was left alone.
same_run() {
  local file
  [[ $(ls "$1") == "$(ls whole)" ]] || fail "$1: other files"
  [[ $(without_wall_seconds "$1") == "$(without_wall_seconds whole)" ]] || fail "$1: another series.csv"
  for file in whole/particles_*.vtp whole/soft_*.vtp whole/run.pvd whole/bodies.csv; do
    cmp -s "$file" "$1/${file#*/}" || fail "$1: another ${file#*/}"
  done
}

expect_exit 0 "$flotsam" check soft.json
expect_text out "cloth"
expect_text out "elastic body"
expect_exit 0 "$flotsam" run soft.json --no-picture --quiet --threads 1 --out whole

# ---- Files ----

for ((k = 0; k <= 6; k++)); do expect_file "whole/soft_000$k.vtp"; done
expect_no_file whole/soft_0007.vtp
expect_text whole/run.pvd 'part="1" file="soft_0003.vtp"'
expect_text whole/soft_0003.vtp 'Name="stretch"'
grep -q '^time.*,sail\.max_stretch,sail\.pins,' whole/series.csv || fail "no columns of the cloth"
pins=$(awk -F, 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == "sail.pins") c = k; next } { printf "%s ", $c }' whole/series.csv)
[[ $pins == "4 4 4 4 0 0 0 " || $pins == "4 4 4 0 0 0 0 " ]] || fail "pins are released at another time: $pins"
expect_no_file whole/body_sail.ply
expect_file whole/body_pole.ply

# ---- Threads, kill and resume ----

expect_exit 0 "$flotsam" run soft.json --no-picture --quiet --threads 2 --out two
same_run two
for frame in 2 5; do
  "$flotsam" run soft.json --no-picture --quiet --checkpoint 0 --threads 1 --out "killed$frame" >/dev/null 2>&1 &
  job=$!
  for ((k = 0; k < 6000; k++)); do
    [[ -e killed$frame/particles_000$frame.vtp ]] && break
    kill -0 "$job" 2>/dev/null || break
    sleep 0.005
  done
  kill -s KILL "$job" 2>/dev/null
  wait "$job" 2>/dev/null
  [[ -e killed$frame/summary.json ]] || expect_exit 0 "$flotsam" resume "killed$frame" --quiet --threads 2
  same_run "killed$frame"
done

# ---- Other formats ----

expect_exit 0 "$flotsam" convert whole --to glb --out run.glb
python3 - run.glb whole <<'PYTHON' || fail "run.glb has other shapes than the run"
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack("<I", data[12:16])[0]
tree, bytes_at = json.loads(data[20:20 + size]), 20 + size + 8

def floats(number):
    accessor = tree["accessors"][number]
    view, width = tree["bufferViews"][accessor["bufferView"]], {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
    return struct.unpack_from(f"<{width * accessor['count']}f", data, bytes_at + view["byteOffset"])

names = [mesh["name"] for mesh in tree["meshes"]]
sail = tree["meshes"][names.index("sail")]["primitives"][0]
start, last = floats(sail["attributes"]["POSITION"]), floats(sail["targets"][-1]["POSITION"])
assert len(sail["targets"]) == 6 and "NORMAL" in sail["targets"][0] and "doubleSided" in tree["materials"][sail["material"]]
assert "targets" in tree["meshes"][names.index("jelly")]["primitives"][0]
rows = [line.rstrip("\n").split(",") for line in open(sys.argv[2] + "/series.csv")]
lowest = float(rows[-1][rows[0].index("sail.low_z")])
assert abs(min(a + b for a, b in zip(start[2::3], last[2::3])) - lowest) < 1e-6
weights = [c for c in tree["animations"][0]["channels"] if c["target"]["path"] == "weights"]
assert len(weights) == 2
values = floats(tree["animations"][0]["samplers"][weights[0]["sampler"]]["output"])
assert len(values) == 7 * 6 and sum(values) == 6 and values[-1] == 1 and not any(values[:6])
PYTHON

# The surfaces as a series of PLY files, and one as legacy VTK, say the same as CSV.
expect_exit 0 "$flotsam" convert whole --soft --frame all --to ply --out surfaces
for ((k = 0; k <= 6; k++)); do expect_file "surfaces/soft_000$k.ply"; done
expect_exit 0 "$flotsam" convert whole --soft --frame 4 --out soft.vtk
expect_exit 0 "$flotsam" convert whole --soft --frame 4 --out soft.csv
python3 - <<'PYTHON' || fail "surfaces differ between formats"
import csv, re, struct
rows = list(csv.DictReader(open("soft.csv")))
head, data = open("surfaces/soft_0004.ply", "rb").read().split(b"end_header\n", 1)
names = [n.decode() for _, n in re.findall(rb"property (uint|float) (\w+)", head)]
assert names == list(rows[0]) and names[-4:] == ["nx", "ny", "nz", "stretch"], names
form = struct.Struct("<I" + "f" * (len(names) - 1))
n_faces = int(re.search(rb"element face (\d+)", head).group(1))
assert len(data) == form.size * len(rows) + 13 * n_faces and n_faces > 72
for k, row in enumerate(rows):
    values = dict(zip(names, form.unpack_from(data, k * form.size)))
    assert all(abs(values[c] - float(row[c])) < 1e-6 * (1 + abs(values[c])) for c in ("x", "z", "nz", "stretch"))
    assert values["body"] == {"sail": 2, "jelly": 3}[row["body"]]
faces = [struct.unpack_from("<B3I", data, form.size * len(rows) + 13 * k) for k in range(n_faces)]
assert all(f[0] == 3 and max(f[1:]) < len(rows) and len(set(f[1:])) == 3 for f in faces)
legacy = open("soft.vtk", "rb").read()
mark = b"POLYGONS %d %d\n" % (n_faces, 4 * n_faces)
at = legacy.index(mark) + len(mark)
assert struct.unpack_from(">4I", legacy, at + 16 * 5) == (3,) + faces[5][1:]
PYTHON
expect_exit 2 "$flotsam" convert whole --soft --to glb --out soft.glb
expect_text err "--soft works with csv, vtk and ply only"
cp -r whole hard
rm hard/soft_*.vtp
expect_exit 2 "$flotsam" convert hard --soft
expect_text err "has no cloth and no elastic bodies at frame 6"

# ---- Pictures ----

expect_exit 0 "$flotsam" render whole --frame 3 --look particles --width 160 --height 100 --out checked.png
expect_exit 0 "$flotsam" render whole --frame 3 --look particles --width 160 --height 100 --out again.png
cmp -s checked.png again.png || fail "the same picture twice is not the same"
mv whole/soft_0003.vtp kept
expect_exit 2 "$flotsam" render whole --frame 3 --look particles --width 160 --height 100 --out missing.png
expect_text err "soft_0003.vtp: is missing"
head -c 900 kept >whole/soft_0003.vtp
expect_exit 2 "$flotsam" render whole --frame 3 --look particles --width 160 --height 100 --out damaged.png
expect_text err "soft_0003.vtp: damaged"
mv kept whole/soft_0003.vtp

# ---- Samples that are added ----

# A weak cloth is stretched by its own motion. Frames tell when samples were added; those of the start have 0.
sed -e 's/"stretch": 500/"stretch": 25/' -e 's/"at": \[0.36, 0.36, 0.3\],/&"look": "samples", "velocity": [0, 0, -4],/' \
  -e 's/"name": "\(pole\|jelly\)",/&"look": "hidden",/' soft.json >samples.json
expect_exit 0 "$flotsam" run samples.json --no-picture --quiet --threads 1 --out samples
for frame in 0 3; do
  expect_exit 0 "$flotsam" convert samples --frame $frame
  cp out added_$frame.csv
  for look in particles water; do
    expect_exit 0 "$flotsam" render samples --frame $frame --look $look --width 160 --height 100 --out ${look}_$frame.png
  done
done
head -1 added_0.csv | grep -q ',added$' || fail "frames do not tell when samples were added"
awk -F, 'NR > 1 && $NF != 0 { exit 1 }' added_0.csv || fail "samples were added before the start"
awk -F, 'NR > 1 && $NF > 0 { n++; if ($NF > 0.12 || $2 != "rigid") exit 1 } END { exit n == 0 }' added_3.csv ||
  fail "no samples were added, or at other times"
python3 - <<'PYTHON' || fail "not the new samples are red"
import struct, zlib

def count_red(path):
    data, at, raw = open(path, "rb").read(), 8, b""
    while at < len(data):
        n, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IDAT": raw += data[at + 8:at + 8 + n]
        at += 12 + n
    raw, before, red = zlib.decompress(raw), bytes(480), 0
    for y in range(100):
        kind, line = raw[481 * y], bytearray(raw[481 * y + 1:481 * y + 481])
        for i in range(480):
            left, up, corner = line[i - 3] if i > 2 else 0, before[i], before[i - 3] if i > 2 else 0
            paeth = min((left, up, corner), key=lambda c: abs(left + up - corner - c))
            line[i] = (line[i] + [0, left, up, (left + up) // 2, paeth][kind]) % 256
        red += sum(line[i] > 90 and line[i] > 2 * line[i + 1] and line[i] > 2 * line[i + 2] for i in range(0, 480, 3))
        before = line
    return red

for look in ("particles", "water"):
    counts = [count_red(f"{look}_{frame}.png") for frame in (0, 3)]
    assert counts[0] == 0 and counts[1] > 3, (look, counts)
PYTHON

finish
