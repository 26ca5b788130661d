# surface: closed meshes of the fluid in PLY, OBJ and VTP that say the same; frames that are there are passed over.
source "$(dirname "$0")/common.sh"

cat >small.json <<'END'
{
  "schema_version": 1,
  "title": "A block of water in a corner",
  "spacing": 0.05,
  "duration": 0.1,
  "frames_per_second": 50,
  "method": "wcsph",
  "materials": { "water": { "density": 1000 } },
  "boundaries": [ { "name": "tank", "shape": { "tank": [0.8, 0.4, 0.6] } } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.4, 0.4, 0.3] }, "corner": [0, 0, 0] } ]
}
END
expect_exit 0 "$flotsam" run small.json --frames 3 --no-picture --quiet --out "my run"

# ---- All frames, into the run's folder ----

expect_exit 0 "$flotsam" surface "my run"
expect_empty err
for k in 0 1 2 3; do
  expect_file "my run/surface/surface_00000$k.ply"
  expect_text out "surface  my run/surface/surface_00000$k.ply: "
done
expect_text "my run/surface/settings.json" '"kernel": "isotropic"'
[[ -z $(find "my run" -name '*.tmp') ]] || fail "half a file was left"
expect_exit 0 "$flotsam" surface "my run" --frames 3 --format obj --quiet
expect_empty out
expect_exit 0 "$flotsam" surface "my run" --format vtp
expect_file "my run/surface/surface.pvd"

# ---- The same mesh in every format; closed, inside the tank, with the volume of the water ----

cat >compare.py <<'END'
import re, struct
from collections import Counter

content = open("my run/surface/surface_000003.ply", "rb").read()
head, data = content.split(b"end_header\n", 1)
assert head.startswith(b"ply\nformat binary_little_endian 1.0\n") and b"comment time 0.06" in head, head
assert re.findall(rb"property float (\w+)", head) == b"x y z nx ny nz vx vy vz".split()
n, m = (int(re.search(rb"element %s (\d+)" % what, head).group(1)) for what in (b"vertex", b"face"))
assert len(data) == 36 * n + 13 * m
vertices = [struct.unpack_from("<9f", data, 36 * k) for k in range(n)]
faces = [struct.unpack_from("<B3i", data, 36 * n + 13 * k) for k in range(m)]
assert all(face[0] == 3 for face in faces)
faces = [face[1:] for face in faces]
points = [v[:3] for v in vertices]

edges = Counter((f[k], f[(k + 1) % 3]) for f in faces for k in range(3))
assert all(count == 1 and edges[b, a] == 1 for (a, b), count in edges.items()), "not a closed manifold"
assert len(set(points)) == n, "two vertices in one place"
def volume_of(f):
    (a, b, c), (d, e, g), (h, i, j) = (points[k] for k in f)
    return (a * (e * j - g * i) - b * (d * j - g * h) + c * (d * i - e * h)) / 6
volume = sum(map(volume_of, faces))
assert abs(volume - 0.048) < 0.1 * 0.048, volume
for axis, (low, high) in enumerate(((0, 0.8), (0, 0.4), (0, 9))):
    assert min(p[axis] for p in points) > low - 1e-6 and max(p[axis] for p in points) < high + 1e-6, axis
assert min(p[2] for p in points) < 0.01 and min(p[0] for p in points) < 0.01
assert all(abs(sum(c * c for c in v[3:6]) - 1) < 1e-3 for v in vertices)
assert any(v[8] < -0.01 for v in vertices) and all(abs(c) < 5 for v in vertices for c in v[6:])

lines = [line.split() for line in open("my run/surface/surface_000003.obj")]
obj = [tuple(struct.unpack("<f", struct.pack("<f", float(c)))[0] for c in w[1:]) for w in lines if w[0] == "v"]
assert obj == points and sum(w[0] == "vn" for w in lines) == n
assert [tuple(int(c.split("//")[0]) - 1 for c in w[1:]) for w in lines if w[0] == "f"] == faces

content = open("my run/surface/surface_000003.vtp", "rb").read()
head, data = content.split(b'<AppendedData encoding="raw">\n_', 1)
def array(name, form):
    offset = int(re.search(rb'Name="%s"[^>]*offset="(\d+)"' % name, head).group(1))
    size = struct.unpack_from("<Q", data, offset)[0]
    return struct.unpack_from("<%d%s" % (size // struct.calcsize(form), form), data, offset + 8)
flat = array(b"Points", "f")
assert [flat[3 * k:3 * k + 3] for k in range(n)] == points
flat = array(b"velocity", "f")
assert [flat[3 * k:3 * k + 3] for k in range(n)] == [v[6:] for v in vertices]
flat = array(b"connectivity", "i")
assert [flat[3 * k:3 * k + 3] for k in range(m)] == faces
assert array(b"offsets", "i") == tuple(range(3, 3 * m + 1, 3))
assert abs(array(b"TimeValue", "d")[0] - 0.06) < 1e-9
film = open("my run/surface/surface.pvd").read()
assert film.count("<DataSet") == 4 and 'file="surface_000003.vtp"' in film
END
expect_exit 0 python3 compare.py
if python=$(python_with vtk); then
  cat >read.py <<'END'
import vtk
for reader, name in ((vtk.vtkXMLPolyDataReader(), "vtp"), (vtk.vtkPLYReader(), "ply"), (vtk.vtkOBJReader(), "obj")):
    reader.SetFileName("my run/surface/surface_000003." + name)
    reader.Update()
    mesh = reader.GetOutput()
    assert mesh.GetNumberOfPoints() > 100 and mesh.GetNumberOfPolys() > 200, name
    edges = vtk.vtkFeatureEdges()
    edges.SetInputData(mesh)
    edges.FeatureEdgesOff()
    edges.ManifoldEdgesOff()
    edges.Update()
    assert edges.GetOutput().GetNumberOfCells() == 0, name
END
  expect_exit 0 "$python" read.py
fi

# ---- Frames that are there ----

expect_exit 0 "$flotsam" surface "my run"
expect_text out "frames   0 made, 4 existed already"
rm "my run/surface/surface_000001.ply"
expect_exit 0 "$flotsam" surface "my run" --json
(($(wc -l <out) == 4)) || fail "not a line for each frame"
sed -n 2p out >line
expect_json line 'd["frame"], d["was_there"], d["particles"], d["components"]' "(1, False, 384, 1)"
expect_json line 'abs(d["volume"] - 0.048) < 0.0048 and d["triangles"] > 200 and abs(d["time"] - 0.02) < 1e-9' True
sed -n 1p out >line
expect_json line 'd["frame"], d["was_there"]' "(0, True)"
cp "my run/surface/surface_000002.ply" before.ply
touch "my run/particles_0002.vtp"
expect_exit 0 "$flotsam" surface "my run"
expect_text out "frames   1 made, 3 existed already"
cmp -s before.ply "my run/surface/surface_000002.ply" || fail "the same frame gave other bytes"
expect_exit 0 "$flotsam" surface "my run" --force --frames 1:2 --threads 3
(($(grep -c '^surface ' out) == 2)) || fail "--force did not make two frames anew"
cmp -s before.ply "my run/surface/surface_000002.ply" || fail "three threads gave other bytes"
# Other settings make everything anew.
expect_exit 0 "$flotsam" surface "my run" --kernel anisotropic --frames 2:
(($(grep -c '^surface ' out) == 2)) || fail "other settings did not make frames anew"
cmp -s before.ply "my run/surface/surface_000002.ply" && fail "both kernels give the same"
expect_exit 0 "$flotsam" surface "my run" --kernel anisotropic
expect_text out "frames   2 made, 2 existed already"
expect_exit 0 "$flotsam" surface "my run" --out elsewhere/meshes --frames 0:3:3 --smoothing 0 --cell 0.4 --drop-spray
expect_file elsewhere/meshes/surface_000003.ply
expect_no_file elsewhere/meshes/surface_000001.ply
expect_text elsewhere/meshes/settings.json '"min_particles": 2'
expect_exit 0 "$flotsam" surface "my run" --out none --min-particles 1000 --frames 0
expect_text out "0 triangles"

# ---- A tank that moves takes its walls along ----

sed 's/"tank": \[0.8, 0.4, 0.6\] }/& , "motions": [ { "translate": [0.5, 0, 0] } ]/; s/"box": \[0.4,/"box": [0.8,/' small.json >sway.json
expect_exit 0 "$flotsam" run sway.json --until 0.3 --no-picture --quiet --out sway
expect_exit 0 "$flotsam" surface sway --frames 15 --format obj
expect_exit 0 "$flotsam" surface sway --frames 15 --format obj --no-clip --out unclipped
span() { awk '$1 == "v" { if (!n++ || $2 < low) low = $2; if (n == 1 || $2 > high) high = $2 } END { printf "%.4f %.4f", low, high }' "$1"; }
[[ $(span sway/surface/surface_000015.obj) == "0.1500 0.9500" ]] || fail "walls at $(span sway/surface/surface_000015.obj)"
[[ $(span unclipped/surface_000015.obj) != "0.1500 0.9500" ]] || fail "--no-clip changes nothing"

# ---- Mistakes ----

expect_exit 2 "$flotsam" surface "my run" --format pyl
expect_text err "did you mean 'ply'?"
expect_exit 2 "$flotsam" surface "my run" --kernel anisotrop
expect_text err "did you mean 'anisotropic'?"
expect_exit 2 "$flotsam" surface "my run" --cell 0.9
expect_text err "would lose films"
expect_exit 2 "$flotsam" surface "my run" --cell 3
expect_text err "--cell must lie between"
for frames in 1:2:0 a:b 1-2 "" 1:2:3:4; do
  expect_exit 2 "$flotsam" surface "my run" --frames="$frames"
  expect_text err "--frames needs A:B"
done
expect_exit 2 "$flotsam" surface "my run" --frames 2:9
expect_text err "there is no frame 9; the last one is 3"
expect_exit 2 "$flotsam" surface "my run" --frames 3:1
expect_text err "the first frame is after the last"
expect_exit 2 "$flotsam" surface "my rnu"
expect_text err "there is no such folder, did you mean 'my run'?"
expect_exit 2 "$flotsam" surface .
expect_text err "is not the folder of a run"
echo file >taken
expect_exit 2 "$flotsam" surface "my run" --out taken
expect_text err "taken"
expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --quiet --out flat
expect_exit 2 "$flotsam" surface flat
expect_text err "flat: is a run in two dimensions"
expect_text err "flotsam render 'flat'"
expect_no_file flat/surface
cp -r "my run" damaged
head -c 3000 "my run/particles_0002.vtp" >damaged/particles_0002.vtp
expect_exit 2 "$flotsam" surface damaged --force --out cut
expect_text err "damaged/particles_0002.vtp"
expect_file cut/surface_000001.ply
expect_no_file cut/surface_000002.ply
# Where it stopped it goes on.
cp "my run/particles_0002.vtp" damaged/
expect_exit 0 "$flotsam" surface damaged --out cut
expect_text out "frames   2 made, 2 existed already"
(
  trap '' XFSZ
  ulimit -f 8
  "$flotsam" surface "my run" --frames 0 --out full >out 2>err
)
(($? == 1)) || fail "a full disk went unnoticed"
expect_no_file full/surface_000000.ply
[[ -z $(find . -name '*.tmp') ]] || fail "half a file was left"

# ---- Solids other than tanks: a thin shelf, and a ramp given by its outline ----

cat >shelf.json <<'END'
{ "schema_version": 1, "up": "z", "spacing": 0.05, "duration": 0.1, "frames_per_second": 50, "gravity": [0, 0, 0],
  "method": "wcsph", "materials": { "water": {} },
  "boundaries": [
    { "name": "shelf", "shape": { "box": [1, 1, 0.01] }, "at": [0.5, 0.5, -0.005] },
    { "name": "ramp", "shape": { "outline": { "points": [[0, 0], [0.2, 0], [0, 0.2]], "depth": 1 } }, "at": [0, 0.5, 0],
      "rotate": { "axis": [1, 0, 0], "angle": 90 } } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.6, 0.6, 0.2] }, "corner": [0.1, 0.2, 0], "velocity": [-2, 0, -2] } ] }
END
expect_exit 0 "$flotsam" run shelf.json --frames 2 --no-picture --quiet --out shelf
expect_exit 0 "$flotsam" surface shelf --frames 2 --json --out clipped
cp out clipped.json
expect_exit 0 "$flotsam" surface shelf --frames 2 --json --no-clip --out free
cp out free.json
cat >depths.py <<'END'
import json, struct
def points(name):
    content = open(json.load(open(name + ".json"))["path"], "rb").read()
    head, data = content.split(b"end_header\n", 1)
    n = json.load(open(name + ".json"))["vertices"]
    return [struct.unpack_from("<3f", data, 36 * k) for k in range(n)]
below = lambda p: -p[2] # the shelf's top is at z = 0
# The ramp falls from z = 0.2 to x = 0.2; its tip there is thinner than a particle. It ends at y = 0 and 1.
inside = lambda p: (0.2 - p[0] - p[2]) / 2 ** 0.5 if p[2] > 0.03 and 0 < p[1] < 1 else -1
for depth in below, inside:
    assert max(map(depth, points("clipped"))) < 0.05 * 0.1, max(map(depth, points("clipped")))
assert max(map(below, points("free"))) > 0.05 * 0.2
END
expect_exit 0 python3 depths.py

# A run without fluid has none, and leaves no empty files.
cat >dry.json <<'END'
{ "schema_version": 1, "spacing": 0.1, "duration": 0.02, "frames_per_second": 50, "method": { "name": "monolithic" },
  "materials": { "oak": { "density": 600 } }, "boundaries": [ { "name": "tank", "shape": { "tank": [1, 1, 1] } } ],
  "bodies": [ { "name": "box", "material": "oak", "shape": { "box": [0.3, 0.3, 0.3] }, "at": [0.5, 0.5, 0.5] } ] }
END
expect_exit 0 "$flotsam" run dry.json --no-picture --quiet --out dry
expect_exit 2 "$flotsam" surface dry
expect_text err "surface: dry: is a run without fluid, so there is no surface"
(($(wc -l <err) == 1)) || fail "more than one message about a run without fluid"
expect_no_file dry/surface
finish
