# Colours of the scene in pictures, values of the scene that render changes, and captions, which are there only if asked for.
source "$(dirname "$0")/common.sh"

# The mean red, green and blue of a picture's lower half, without any library.
cat >mean.py <<'END'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
at, packed = 8, b""
while at < len(data):
    n, kind = struct.unpack(">I4s", data[at:at + 8])
    if kind == b"IHDR":
        width, height, bits, colours = struct.unpack(">IIBB", data[at + 8:at + 18])
        assert (bits, colours) == (8, 2), (bits, colours)
    if kind == b"IDAT":
        packed += data[at + 8:at + 8 + n]
    at += 12 + n
raw, step, rows = zlib.decompress(packed), 3 * width, []
before = bytearray(step)
for y in range(height):
    line = bytearray(raw[y * (step + 1) + 1:(y + 1) * (step + 1)])
    kind = raw[y * (step + 1)]
    for x in range(step):
        a, b, c = line[x - 3] if x >= 3 else 0, before[x], before[x - 3] if x >= 3 else 0
        p = a + b - c
        near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        line[x] = (line[x] + (0, a, b, (a + b) // 2, near)[kind]) & 255
    rows.append(line)
    before = line
rows = rows[len(rows) // 2:]
print(*(sum(sum(row[k::3]) for row in rows) / (len(rows) * width) for k in range(3)))
END
# more FILE A B: colour A (0 red, 1 green, 2 blue) has a larger mean than B, by 5 of 255.
more() {
  local means
  read -r -a means < <(python3 mean.py "$1")
  awk "BEGIN { exit !(${means[$2]} > ${means[$3]} + 5) }" || fail "$1: means ${means[*]}: $2 is not above $3"
}

cat >pool.json <<'END'
{ "schema_version": 1, "spacing": 0.05, "duration": 0.02, "frames_per_second": 100,
  "materials": { "water": { "colour": "#E02010" }, "wood": { "density": 500 } },
  "camera": { "from": [0.5, -2, 0.5], "look_at": [0.5, 0, 0.25] },
  "boundaries": [ { "name": "tank", "shape": { "tank": [1, 0.5, 0.8] }, "look": "hidden" } ],
  "bodies": [ { "name": "crate", "material": "wood", "shape": { "box": 0.4 }, "at": [0.75, 0.25, 0.22], "look": "#10c020" } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.5, 0.5, 0.4] }, "corner": [0, 0, 0] } ] }
END
small="--width 96 --height 64 --threads 1 --force --quiet"
expect_exit 0 "$flotsam" run pool.json --frames 1 --no-picture --quiet --out pool

# Seen from the side of the fluid it is red, by both looks, from the other side the crate is green.
at_fluid="--from=-1,0.25,0.2 --look-at 0,0.25,0.2" at_crate="--from 2,0.25,0.3 --look-at 1,0.25,0.2"
for look in water particles; do
  expect_exit 0 "$flotsam" render pool $small --look $look $at_fluid --out $look.png
  more $look.png 0 2
  expect_exit 0 "$flotsam" render pool $small --look $look $at_fluid --set materials.water.colour=#2040ff --out blue.png
  more blue.png 2 0
done
expect_exit 0 "$flotsam" render pool $small $at_crate --out crate.png
more crate.png 1 0
expect_exit 0 "$flotsam" render pool $small $at_crate --set bodies.0.look=red --out red.png
more red.png 0 1
grep -q 2040ff pool/scene.json && fail "render --set changed the scene"
expect_exit 2 "$flotsam" render pool --set materials.water.color=#2040ff --out never.png
expect_text err "unknown key 'color'"

# A caption is there only if it is asked for.
expect_exit 0 "$flotsam" render pool $small --width 320 --height 200 --out plain.png
expect_exit 0 "$flotsam" render pool $small --width 320 --height 200 --caption --out caption.png
cmp -s plain.png caption.png && fail "--caption writes nothing"

# What is no colour is refused, with what would be one.
for wrong in 3355ffx '#3355f' '#3355fg' '#3355ff0' blue; do
  expect_exit 2 "$flotsam" check pool.json --set "materials.water.colour=$wrong"
  expect_text err "/materials/water/colour: must be a colour such as \"#3355ff\", got '$wrong'"
  expect_exit 2 "$flotsam" check pool.json --set "bodies.0.look=$wrong"
  expect_text err ", or a colour such as #3355ff, got '$wrong'"
done
expect_exit 2 "$flotsam" check pool.json --set materials.water.colour=3
expect_text err 'must be a colour such as "#3355ff", got a number, 3'
finish
