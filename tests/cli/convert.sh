# convert: particles as CSV, legacy VTK and PLY say the same as the frame; nothing is overwritten unasked.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" run tiny.json --frames 2 --no-picture --quiet --out "my run"

# ---- Columns and words ----

expect_exit 0 "$flotsam" convert "my run"
expect_empty err
[[ $(head -1 out) == id,type,body,x,y,z,vx,vy,vz,density,pressure,material ]] || fail "other columns: $(head -1 out)"
(($(grep -c '^[0-9]*,fluid,,.*,water$' out) == 64)) || fail "not 64 rows of water"
(($(grep -c '^[0-9]*,boundary,tank,.*,$' out) == $(grep -c boundary out))) || fail "a sample of the tank lacks its body"
cp out last.csv
expect_exit 0 "$flotsam" convert "my run" --frame 2 --to csv --out -
cmp -s out last.csv || fail "frame 2 is not the last one"
expect_exit 0 "$flotsam" convert "my run" --frame 0
cmp -s out last.csv && fail "frames 0 and 2 are the same"

# ---- The same numbers in every format, by a reader of each that knows only its description ----

expect_exit 0 "$flotsam" convert "my run" --to ply --out last.ply
expect_text out "ply      last.ply"
expect_exit 0 "$flotsam" convert "my run" --to vtk --out last.vtk
cat >compare.py <<'END'
import csv, re, struct, zlib

def float32(text):
    return struct.unpack("<f", struct.pack("<f", float(text)))[0]

rows = list(csv.DictReader(open("last.csv")))

# The frame itself: XML with appended data in zlib blocks.
content = open("my run/particles_0002.vtp", "rb").read()
head, data = content.split(b"<AppendedData encoding=\"raw\">\n_", 1)
def frame_array(name, form, width):
    offset = int(re.search(rb'Name="%s"[^>]*offset="(\d+)"' % name.encode(), head).group(1))
    n_blocks = struct.unpack_from("<Q", data, offset)[0]
    sizes, at, raw = struct.unpack_from(f"<{n_blocks}Q", data, offset + 24), offset + 24 + 8 * n_blocks, b""
    for size in sizes:
        raw += zlib.decompress(data[at:at + size])
        at += size
    return [struct.unpack_from("<" + form * width, raw, k * struct.calcsize("<" + form * width)) for k in range(len(rows))]

points, velocity = frame_array("Points", "f", 3), frame_array("velocity", "f", 3)
density, pressure = frame_array("density", "f", 1), frame_array("pressure", "f", 1)
ids = frame_array("id", "I", 1)
for row, x, v, d, p, i in zip(rows, points, velocity, density, pressure, ids):
    got = [float32(row[c]) for c in ("x", "y", "z", "vx", "vy", "vz", "density", "pressure")]
    assert got == [*x, *v, *d, *p], (got, x, v, d, p)
    assert int(row["id"]) == i[0]

# PLY
content = open("last.ply", "rb").read()
head, data = content.split(b"end_header\n", 1)
assert head.startswith(b"ply\nformat binary_little_endian 1.0\n") and b"comment body 0 tank\n" in head
letters = {b"uint": "I", b"uchar": "B", b"ushort": "H", b"float": "f"}
properties = re.findall(rb"property (\w+) (\w+)", head)
assert [name.decode() for _, name in properties] == list(rows[0])
form = struct.Struct("<" + "".join(letters[kind] for kind, _ in properties))
assert len(data) == form.size * len(rows) and b"element vertex %d\n" % len(rows) in head
for row, values in zip(rows, form.iter_unpack(data)):
    by_name = dict(zip(row, values))
    assert all(float32(row[c]) == by_name[c] for c in ("x", "y", "z", "vx", "vy", "vz", "density", "pressure"))
    assert int(row["id"]) == by_name["id"] and (row["type"] == "boundary") == by_name["type"]
    assert by_name["body"] == (0 if row["body"] == "tank" else 65535)

# Legacy VTK: text lines and big-endian data in turn.
content = open("last.vtk", "rb").read()
lines = content.split(b"\n", 4)
assert lines[0] == b"# vtk DataFile Version 4.2" and lines[2:4] == [b"BINARY", b"DATASET POLYDATA"]
n = len(rows)
def legacy(mark, form, count):
    at = content.index(mark) + len(mark)
    size = struct.calcsize(">" + form * count)
    assert content[at + size:at + size + 1] == b"\n", mark
    return struct.unpack_from(">" + form * count, content, at)
assert legacy(b"TimeValue 1 1 double\n", "d", 1) == (0.04,)
flat = legacy(b"POINTS %d float\n" % n, "f", 3 * n)
assert [flat[3 * k:3 * k + 3] for k in range(n)] == points
assert legacy(b"VERTICES %d %d\n" % (n, 2 * n), "i", 2 * n) == tuple(v for k in range(n) for v in (1, k))
assert b"POINT_DATA %d\nFIELD FieldData 7\n" % n in content
flat = legacy(b"velocity 3 %d float\n" % n, "f", 3 * n)
assert [flat[3 * k:3 * k + 3] for k in range(n)] == velocity
assert legacy(b"\ntype 1 %d unsigned_char\n" % n, "B", n) == tuple(int(r["type"] == "boundary") for r in rows)
assert legacy(b"\nid 1 %d unsigned_int\n" % n, "I", n) == tuple(int(r["id"]) for r in rows)
END
expect_exit 0 python3 compare.py

# ---- Further arrays of a frame, as another method or another program may add them ----

cp -r "my run" more
cat >add.py <<'END'
import re, struct, zlib
path = "more/particles_0002.vtp"
head, data = open(path, "rb").read().split(b"<AppendedData encoding=\"raw\">\n_", 1)
data, tail = data[:data.rindex(b"\n</AppendedData>")], data[data.rindex(b"\n</AppendedData>"):]
n = int(re.search(rb'NumberOfPoints="(\d+)"', head).group(1))
block = struct.unpack_from("<Q", data, 8)[0]
def add(name, kind, form, components, values):
    global head, data
    raw = struct.pack(f"<{len(values)}{form}", *values)
    assert len(raw) < block
    packed = zlib.compress(raw)
    tag = b'<DataArray type="%s" Name="%s" NumberOfComponents="%d" format="appended" offset="%d"/>\n</PointData>' % (
        kind, name, components, len(data))
    head = head.replace(b"</PointData>", tag)
    data += struct.pack("<4Q", 1, block, len(raw), len(packed)) + packed
add(b"temperature", b"Float32", "f", 1, [k / 8 for k in range(n)])
add(b"vorticity", b"Float64", "d", 3, [k / 16 for k in range(3 * n)])
add(b"phase, odd", b"Int32", "i", 1, [-k for k in range(n)])
add(b"x", b"UInt8", "B", 1, [k % 7 for k in range(n)])
add(b"pair", b"UInt16", "H", 2, list(range(2 * n)))
open(path, "wb").write(head + b"<AppendedData encoding=\"raw\">\n_" + data + tail)
END
expect_exit 0 python3 add.py
for format in csv ply vtk; do expect_exit 0 "$flotsam" convert more --out more.$format; done
cat >compare_more.py <<'END'
import csv, re, struct
rows = list(csv.DictReader(open("more.csv")))
n = len(rows)
names = ["temperature", "vorticity_x", "vorticity_y", "vorticity_z", "phase, odd", "x_2", "pair_0", "pair_1"]
assert list(rows[0])[12:] == names, list(rows[0])
want = [(k / 8, *((3 * k + c) / 16 for c in range(3)), -k, k % 7, 2 * k, 2 * k + 1) for k in range(n)]
assert [tuple(float(row[name]) for name in names) for row in rows] == want
plain = list(csv.DictReader(open("last.csv")))
assert [{key: row[key] for key in plain[0]} for row in rows] == plain

head, data = open("more.ply", "rb").read().split(b"end_header\n", 1)
letters = {"uint": "I", "int": "i", "uchar": "B", "ushort": "H", "float": "f", "double": "d"}
properties = [line.split(" ") for line in head.decode().splitlines() if line.startswith("property")]
assert all(len(words) == 3 for words in properties)
assert [words[2] for words in properties][12:] == [name.replace(" ", "_") for name in names]
form = struct.Struct("<" + "".join(letters[words[1]] for words in properties))
assert [values[12:] for values in form.iter_unpack(data)] == want

content = open("more.vtk", "rb").read()
def legacy(mark, form, count):
    at = content.index(mark) + len(mark)
    return struct.unpack_from(">" + form * count, content, at)
assert b"FIELD FieldData 12\n" in content
assert legacy(b"\ntemperature 1 %d float\n" % n, "f", n) == tuple(row[0] for row in want)
assert legacy(b"\nvorticity 3 %d double\n" % n, "d", 3 * n) == tuple(v for row in want for v in row[1:4])
assert legacy(b"\nphase,%%20odd 1 %d int\n" % n, "i", n) == tuple(row[4] for row in want)
assert legacy(b"\npair 2 %d unsigned_short\n" % n, "H", 2 * n) == tuple(v for row in want for v in row[6:])
END
expect_exit 0 python3 compare_more.py
# Pictures do without them.
expect_exit 0 "$flotsam" render more --width 320 --height 200

# ---- The ending tells the format ----

expect_exit 0 "$flotsam" convert "my run" --out ending.ply
cmp -s ending.ply last.ply || fail "a name that ends in .ply gave something else"
expect_exit 0 "$flotsam" convert "my run" --out ending.VTK
cmp -s ending.VTK last.vtk || fail "a name that ends in .VTK gave something else"
expect_exit 0 "$flotsam" convert "my run" --frame all --out "ending/%d.ply"
cmp -s ending/2.ply last.ply || fail "a pattern that ends in .ply gave something else"
expect_exit 0 "$flotsam" convert "my run" --to csv --out no-ending
cmp -s no-ending last.csv || fail "--to csv without an ending gave something else"
for pair in csv:x.ply ply:x.csv vtk:x.ply ply:x_%d.vtk; do
  expect_exit 2 "$flotsam" convert "my run" --to ${pair%:*} --out ${pair#*:}
  expect_text err "${pair#*:} means the format ${pair##*.}, but --to says ${pair%:*}"
  expect_text err ".csv, .vtk, .ply and .glb"
  expect_no_file ${pair#*:}
done
for name in x.txt x.vtp x_%d.xyz .csv no-ending-2; do
  expect_exit 2 "$flotsam" convert "my run" --out $name
  expect_text err "$name: the format is not known"
  expect_no_file $name
done
expect_exit 2 "$flotsam" convert "my run" --out x.txt --to csv
expect_text err "x.txt: the format is not known"

# ---- All frames ----

expect_exit 0 "$flotsam" convert "my run" --frame all --out frames
for k in 0 1 2; do expect_file frames/particles_000$k.csv; done
expect_exit 0 "$flotsam" convert "my run" --frame all --to ply --out "frames/f_%02d.ply"
for k in 0 1 2; do expect_file frames/f_0$k.ply; done
cmp -s frames/f_02.ply last.ply || fail "the last frame by its pattern differs"
expect_exit 2 "$flotsam" convert "my run" --frame all
expect_text err "frame_%04d.csv"
expect_exit 2 "$flotsam" convert "my run" --frame all --to vtk --out all.vtk
expect_text err "is a single file, but there are 3 frames"
expect_no_file all.vtk
# A pattern is not printf's: other signs of percent are letters.
expect_exit 0 "$flotsam" convert "my run" --out "frames/100%s_%n%d.csv"
expect_file "frames/100%s_%n2.csv"

# ---- What is there stays ----

echo mine >mine.csv
expect_exit 2 "$flotsam" convert "my run" --out mine.csv
expect_text err "mine.csv: exists; replace it with --force"
expect_text mine.csv mine
rm frames/particles_0002.csv frames/particles_0000.csv
expect_exit 2 "$flotsam" convert "my run" --frame all --out frames
expect_no_file frames/particles_0000.csv
expect_exit 0 "$flotsam" convert "my run" --frame all --out frames --force
expect_exit 0 "$flotsam" convert "my run" --out mine.csv --force
cmp -s mine.csv last.csv || fail "--force did not replace the file"

# ---- Mistakes ----

expect_exit 2 "$flotsam" convert "my run" --frame 3
expect_text err "there is no frame 3; the last one is 2"
for frame in -1 1.5 first ""; do
  expect_exit 2 "$flotsam" convert "my run" --frame="$frame"
  expect_text err "a number, last or all"
done
expect_exit 2 "$flotsam" convert "my run" --to cvs
expect_text err "did you mean 'csv'?"
expect_exit 2 "$flotsam" convert "my rnu"
expect_text err "there is no such folder, did you mean 'my run'?"
expect_exit 2 "$flotsam" convert .
expect_text err "is not the folder of a run"
cp -r "my run" young
rm young/particles_* young/summary.json
expect_exit 2 "$flotsam" convert young
expect_text err "convert: young: has no frames yet"
grep -q 'did you mean' err && fail "the folder itself is suggested: $(<err)"
expect_exit 2 "$flotsam" convert "my run" --out nowhere/a.csv
expect_text err "nowhere/a.csv: there is no folder 'nowhere'; create it, or choose another place"
for name in a_%d%d.csv a_%04d_%d.csv; do
  expect_exit 2 "$flotsam" convert "my run" --out $name
  expect_text err "$name: the pattern has more than one place for the frame's number; keep one, such as frame_%04d.csv"
  expect_no_file "a_0000%d.csv"
done
expect_exit 2 "$flotsam" convert "my run" --frame all --out "f_%d/a.csv"
expect_text err "f_%d/a.csv: the place for the frame's number is in the name of the folder"
expect_no_file "f_%d"
"$flotsam" convert "my run" >/dev/full 2>err
(($? == 1)) || fail "a full device went unnoticed"
expect_text err "cannot write to standard output"
(
  trap '' XFSZ
  ulimit -f 2
  "$flotsam" convert "my run" --out full.csv >out 2>err
)
(($? == 1)) || fail "a full disk went unnoticed"
expect_no_file full.csv
[[ -z $(find . -name '*.tmp') ]] || fail "half a file was left"

# Whoever reads may stop; nothing is said about it, whatever becomes of SIGPIPE.
expect_exit 0 "$flotsam" run tiny.json --set spacing=0.005 --frames 0 --no-picture --quiet --out large
"$flotsam" convert large 2>err | head -1 >out
expect_text out "id,type"
expect_empty err
(
  trap '' PIPE
  "$flotsam" convert large 2>err || echo "exit code $?" >>err
) | head -1 >out
expect_empty err

# ---- Damage, and a scene that cannot be read any more ----

echo '{' >large/scene.json
expect_exit 0 "$flotsam" convert large
expect_text err "bodies and materials are written as numbers"
grep -q '^[0-9]*,boundary,0,' out || fail "bodies are not numbered without a scene"
head -c 3000 "my run/particles_0002.vtp" >cut && mv cut "my run/particles_0002.vtp"
expect_exit 2 "$flotsam" convert "my run"
expect_text err "damaged"
# A pattern's folder is made as well.
expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --quiet --out pattern
expect_exit 0 "$flotsam" convert pattern --frame all --to vtk --out new/folder/dam_%03d.vtk
expect_file new/folder/dam_001.vtk

# ---- glTF: solids and their motion ----

cat >glb.py <<'END'
import json, struct, sys
content = open(sys.argv[1], "rb").read()
magic, version, total, n_text, kind = struct.unpack_from("<4sIII4s", content)
assert (magic, version, total, kind) == (b"glTF", 2, len(content), b"JSON") and n_text % 4 == 0
d = json.loads(content[20:20 + n_text])
rest = content[20 + n_text:]
if rest:
    n_bytes, kind = struct.unpack_from("<I4s", rest)
    assert kind == b"BIN\0" and len(rest) == 8 + n_bytes and 0 <= n_bytes - d["buffers"][0]["byteLength"] < 4
def floats(k):
    a = d["accessors"][k]
    view = d["bufferViews"][a["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
    assert view["byteOffset"] % 4 == 0 and view["byteLength"] == 4 * width * a["count"] and a["componentType"] == 5126
    flat = struct.unpack_from(f"<{width * a['count']}f", rest, 8 + view["byteOffset"])
    return [flat[width * k:width * (k + 1)] for k in range(a["count"])]
nodes = {node["name"]: k for k, node in enumerate(d["nodes"])}
def motion(name, path):
    for animation in d.get("animations", []):
        for channel in animation["channels"]:
            if channel["target"] == {"node": nodes[name], "path": path}:
                sampler = animation["samplers"][channel["sampler"]]
                return floats(sampler["input"]), floats(sampler["output"])
print(eval(sys.argv[2]))
END
expect_glb() { # FILE EXPRESSION VALUE
  local got
  got=$(python3 glb.py "$1" "$2" 2>&1)
  [[ $got == "$3" ]] || fail "$1: $2 is '$got' instead of '$3'"
}

cat >parts.json <<'END'
{ "schema_version": 1, "up": "z", "spacing": 0.05, "duration": 0.2, "frames_per_second": 50, "materials": { "water": {} },
  "boundaries": [
    { "name": "tank", "shape": { "tank": [0.6, 0.4, 0.4] } },
    { "name": "gate", "shape": { "box": [0.05, 0.4, 0.4] }, "at": [0.325, 0.2, 0.2], "motions": [ { "translate": [0, 0, 2] } ] },
    { "name": "sign", "shape": { "letters": "O", "height": 0.3, "depth": 0.1, "hollow": true }, "at": [0.3, 0.2, 0.8], "look": "steel" } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.3, 0.4, 0.2] }, "corner": [0, 0, 0] } ] }
END
expect_exit 0 "$flotsam" run parts.json --frames 3 --no-picture --quiet --out parts
expect_exit 0 "$flotsam" convert parts --to glb
expect_text out "glb      parts/run.glb"
expect_glb parts/run.glb 'sorted(nodes)' "['camera', 'flotsam', 'gate', 'sign', 'tank']"
# Keyframes are the rows of bodies.csv, as floats.
cat >rows.py <<'END'
import csv, struct, sys
sys.argv = ["glb.py", "parts/run.glb", "0"]
exec(open("glb.py").read())
single = lambda text: struct.unpack("<f", struct.pack("<f", float(text)))[0]
rows = [row for row in csv.DictReader(open("parts/bodies.csv")) if row["body"] == "gate"]
times, places = motion("gate", "translation")
assert [t for (t,) in times] == [single(row["time"]) for row in rows] and len(rows) == 4
assert places == [tuple(single(row[axis]) for axis in "xyz") for row in rows]
assert motion("gate", "rotation") is None and motion("sign", "translation") is None
END
expect_exit 0 python3 rows.py
# Written again in the run's folder it is replaced; elsewhere it is not unless told.
expect_exit 0 "$flotsam" convert parts --to glb --surface last
expect_glb parts/run.glb '"fluid" in nodes' True
# With all surfaces each time has one of its own, which is shown at that time only.
expect_exit 0 "$flotsam" convert parts --to glb --surface all
expect_glb parts/run.glb 'sum(n["name"].startswith("fluid") for n in d["nodes"])' 4
expect_glb parts/run.glb 'sorted(d["animations"][0]["samplers"][c["sampler"]]["interpolation"] for c in d["animations"][0]["channels"] if c["target"]["path"] == "scale")' "['STEP', 'STEP', 'STEP', 'STEP']"
expect_glb parts/run.glb 'len({c["target"]["node"] for c in d["animations"][0]["channels"] if c["target"]["path"] == "scale"})' 4
expect_exit 0 "$flotsam" convert parts --out one.glb --frame 2
expect_glb one.glb '"animations" in d, round(d["nodes"][nodes["gate"]]["translation"][2], 6)' "(False, 0.28)"
expect_exit 2 "$flotsam" convert parts --out one.glb
expect_text err "one.glb: exists; replace it with --force"
expect_exit 0 "$flotsam" convert parts --out one.glb --force
expect_exit 0 "$flotsam" convert parts --to glb --out -
cmp -s out one.glb || fail "standard output is not the file"
expect_exit 0 "$flotsam" convert parts --to glb --out things/
expect_file things/run.glb
# One frame, none of the bodies, and the plane.
expect_exit 0 "$flotsam" run parts.json --frames 0 --no-picture --quiet --out start
expect_exit 0 "$flotsam" convert start --to glb
expect_glb start/run.glb '"animations" in d, len(d["meshes"])' "(False, 3)"
cat >bare.json <<'END'
{ "schema_version": 1, "up": "z", "spacing": 0.1, "duration": 0.1, "frames_per_second": 50, "gravity": [0, 0, 0],
  "materials": { "water": {} }, "fluids": [ { "material": "water", "shape": { "sphere": 0.3 }, "at": [0, 0, 0] } ] }
END
expect_exit 0 "$flotsam" run bare.json --frames 1 --no-picture --quiet --out bare
expect_exit 0 "$flotsam" convert bare --to glb
expect_glb bare/run.glb 'sorted(nodes), "meshes" in d' "(['camera', 'flotsam'], False)"
expect_exit 0 "$flotsam" convert bare --to glb --surface 0
expect_glb bare/run.glb 'sorted(nodes), len(d["meshes"])' "(['camera', 'flotsam', 'fluid'], 1)"
expect_exit 0 "$flotsam" convert "my run" --to glb
expect_glb "my run/run.glb" 'd["cameras"][0]["type"], d["nodes"][0].get("rotation")' "('orthographic', None)"
expect_exit 2 "$flotsam" convert "my run" --to glb --surface last
expect_text err "two dimensions"
# A run without fluid has no surface, and the file that is there stays.
cat >dry.json <<'END'
{ "schema_version": 1, "spacing": 0.1, "duration": 0.1, "frames_per_second": 50,
  "bodies": [ { "name": "brick", "material": {}, "shape": { "box": 0.3 } } ] }
END
expect_exit 0 "$flotsam" run dry.json --frames 1 --no-picture --quiet --out dry
expect_exit 2 "$flotsam" convert dry --to glb --surface last
expect_text err "convert: dry: is a run without fluid, so there is no surface; leave out --surface"
expect_no_file dry/run.glb
# What cannot be.
expect_exit 2 "$flotsam" convert parts --surface 2
expect_text err "--surface works with glb only"
expect_exit 2 "$flotsam" convert parts --to glb --surface 9
expect_text err "there is no frame 9; the last one is 3"
expect_exit 2 "$flotsam" convert parts --to glb --surface two
expect_text err "--surface needs a frame's number, last or all, not 'two'"
expect_exit 2 "$flotsam" convert parts --to glb --out x.ply
expect_text err "x.ply means the format ply, but --to says glb"
expect_exit 2 "$flotsam" convert parts --to glb --out nodir/x.glb
expect_text err "nodir/x.glb: there is no folder 'nodir'; create it, or choose another place"
expect_exit 2 "$flotsam" convert parts --to glb --out ''
expect_text err "the name is empty"
expect_exit 2 "$flotsam" convert parts --to glb --out x_%04d.glb
expect_text err "x_%04d.glb: is a pattern for several files"
expect_no_file x_%04d.glb
expect_exit 2 "$flotsam" convert parts --to glb --out one.glb/below/
expect_exit 2 "$flotsam" convert parts --to gbl --out x
expect_text err "did you mean 'glb'?"
rm parts/bodies.csv
expect_exit 2 "$flotsam" convert parts --to glb --out x.glb
expect_text err "parts/bodies.csv: is missing"
expect_no_file x.glb
finish
