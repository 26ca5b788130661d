# Robots: a URDF file becomes a scene that runs, with limits, friction, damping and a joint that mimics another; and
# what is wrong with a file is told with its place.
source "$(dirname "$0")/common.sh"

cat >arm.urdf <<'END'
<?xml version="1.0"?>
<robot name="arm">
  <link name="world_frame"/>
  <joint name="mount" type="fixed"><parent link="world_frame"/><child link="base"/><origin xyz="0 0 0.5"/></joint>
  <link name="base"><inertial><mass value="4"/><inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><cylinder radius="0.1" length="0.1"/></geometry></collision></link>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="1"/><inertia ixx="0.014" iyy="0.014" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.08 0.08 0.4"/></geometry></collision></link>
  <link name="fore"><inertial><origin xyz="0 0 0.15" rpy="0 1.5708 0"/><mass value="0.5"/><inertia ixx="0.001" iyy="0.005" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.15"/><geometry><box size="0.06 0.06 0.3"/></geometry></visual></link>
  <link name="finger_a"><inertial><mass value="0.05"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.02 0.05 0.06"/></geometry></collision></link>
  <link name="finger_b"><inertial><mass value="0.05"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.02 0.05 0.06"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.05" rpy="0 0.3 0"/><axis xyz="0 1 0"/><limit lower="-1.5" upper="1.5" effort="30" velocity="2"/><dynamics damping="0.2" friction="0.1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/><limit lower="0.2" upper="2.5" effort="20" velocity="2"/></joint>
  <joint name="slide_a" type="prismatic"><parent link="fore"/><child link="finger_a"/><origin xyz="0.03 0 0.33"/><axis xyz="1 0 0"/><limit lower="0" upper="0.05" effort="5" velocity="1"/></joint>
  <joint name="slide_b" type="prismatic"><parent link="fore"/><child link="finger_b"/><origin xyz="-0.03 0 0.33"/><axis xyz="-1 0 0"/><limit lower="0" upper="0.05" effort="5" velocity="1"/><mimic joint="slide_a" multiplier="1"/></joint>
  <transmission name="t"><joint name="shoulder"/></transmission>
</robot>
END
expect_exit 0 "$flotsam" import arm.urdf
expect_text out "arm.json: 5 bodies, 7 joints"
expect_exit 0 "$flotsam" check arm.json
expect_exit 2 "$flotsam" import arm.urdf
expect_text err "exists; replace it with --force"
expect_exit 0 "$flotsam" import arm.urdf --force --spacing 0.03
expect_json arm.json "d['spacing']" 0.03

# Masses and inertias are those of the file; the inertia of the forearm is turned into the axes of its shape.
expect_json arm.json "[b['mass'] for b in d['bodies']]" "[4, 1, 0.5, 0.05, 0.05]"
expect_json arm.json "[round(x, 6) for x in d['bodies'][2]['inertia']]" "[0.005, 0.005, 0.001]"
# The elbow starts at its lower limit, 0.2 rad, which is 0 of its coordinate.
expect_json arm.json "[round(x, 9) for x in [j for j in d['joints'] if j['name'] == 'elbow'][0]['limits']]" "[0, 2.3]"

expect_exit 0 "$flotsam" run arm.json --out free --until 1 --threads 1 --quiet --no-picture
python3 - <<'END' || fail "the arm does not fall within its limits"
import csv, sys
rows = list(csv.DictReader(open("free/series.csv")))
column = lambda name: [float(r[name]) for r in rows]
falls = max(column("shoulder.coordinate")) > 0.5
held = max(column("shoulder.coordinate")) < 1.5 + 1e-6 and min(column("elbow.coordinate")) > -1e-6
mimics = max(abs(a - b) for a, b in zip(column("slide_a.coordinate"), column("slide_b.coordinate"))) < 1e-9
whole = max(column("shoulder.open")) < 1e-6 and max(abs(z - 0.5) for z in column("base.z")) < 1e-9
sys.exit(not (falls and held and mimics and whole))
END
expect_exit 0 "$flotsam" import arm.urdf --hold --out hold.json
expect_exit 0 "$flotsam" run hold.json --out held --until 0.3 --threads 1 --quiet --no-picture
python3 -c 'import csv, sys; r = list(csv.DictReader(open("held/series.csv")))[-1]; sys.exit(abs(float(r["shoulder.coordinate"])) > 1e-6 or not 0.5 < abs(float(r["shoulder.load"])) < 30)' ||
  fail "motors do not hold the arm"

# A link of several shapes keeps its mass, centre and inertia: bodies that are fixed to each other are summed up.
cat >two.urdf <<'END'
<robot name="two"><link name="a"><inertial><origin xyz="0.2 0.1 0" rpy="0.3 0 0.2"/><mass value="2"/>
<inertia ixx="0.3" iyy="0.4" izz="0.5" ixy="0.01" ixz="0.02" iyz="-0.03"/></inertial>
<collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>
<collision><origin xyz="1 0 0" rpy="0 0 0.5"/><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
<collision><origin xyz="0 0.5 0.1"/><geometry><sphere radius="0.1"/></geometry></collision></link></robot>
END
expect_exit 0 "$flotsam" import two.urdf --fixed
expect_exit 0 "$flotsam" check two.json
python3 - <<'END' || fail "the shapes of a link do not have its mass, centre and inertia together"
import json, math, sys

def matmul(a, b): return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
def turn(a): return [list(r) for r in zip(*a)]
def about(axis, angle):
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    return [[c + x*x*(1-c), x*y*(1-c) - z*s, x*z*(1-c) + y*s], [y*x*(1-c) + z*s, c + y*y*(1-c), y*z*(1-c) - x*s],
            [z*x*(1-c) - y*s, z*y*(1-c) + x*s, c + z*z*(1-c)]]
def point(m, d): return [[m * ((i == j) * sum(x*x for x in d) - d[i]*d[j]) for j in range(3)] for i in range(3)]
def add(a, b): return [[x + y for x, y in zip(r, q)] for r, q in zip(a, b)]

parts = []
for b in json.load(open("two.json"))["bodies"]:
    q = about(b["rotate"]["axis"], math.radians(b["rotate"]["angle"])) if "rotate" in b else about([1, 0, 0], 0)
    c = [b["at"][i] + sum(q[i][k] * b["centre_of_mass"][k] for k in range(3)) for i in range(3)]
    (xx, yy, zz), (xy, yz, zx) = b["inertia"], b["inertia_products"]
    parts.append((b["mass"], c, matmul(matmul(q, [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]), turn(q))))
mass = sum(p[0] for p in parts)
centre = [sum(m * c[i] for m, c, _ in parts) / mass for i in range(3)]
whole = [[0] * 3 for _ in range(3)]
for m, c, inertia in parts: whole = add(whole, add(inertia, point(m, [a - b for a, b in zip(c, centre)])))
q = matmul(about([0, 0, 1], 0.2), about([1, 0, 0], 0.3))
wanted = matmul(matmul(q, [[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.5]]), turn(q))
off = max(abs(a - b) for r, s in zip(whole, wanted) for a, b in zip(r, s))
sys.exit(len(parts) != 3 or abs(mass - 2) > 1e-9 or max(abs(a - b) for a, b in zip(centre, [0.2, 0.1, 0])) > 1e-9 or off > 1e-9)
END

# Joints that mimic joints that mimic others, in any order.
chain_link() { echo "<link name=\"$1\"><inertial><mass value=\"1\"/></inertial><visual><geometry><sphere radius=\"0.1\"/></geometry></visual></link>"; }
hinge() { echo "<joint name=\"$1\" type=\"revolute\"><parent link=\"$2\"/><child link=\"$3\"/><origin xyz=\"0.5 0 0\"/><axis xyz=\"0 1 0\"/>$4</joint>"; }
limits='<limit lower="0.2" upper="2" effort="1" velocity="1"/>'
echo "<robot name=\"r\">$(for l in a b c d; do chain_link $l; done)$(hinge third c d '<mimic joint="second" multiplier="3"/>')$(hinge second b c '<mimic joint="first" multiplier="2" offset="0.1"/>')$(hinge first a b "$limits")</robot>" >chain.urdf
expect_exit 0 "$flotsam" import chain.urdf --fixed
# The first starts at 0.2 rad, the second at 0.5, the third at 1.5: all turn about y, so the last body is turned by 2.2.
expect_json chain.json "round([b for b in d['bodies'] if b['name'] == 'd'][0]['rotate']['angle'], 6)" 126.050715
expect_exit 0 "$flotsam" check chain.json
echo "<robot name=\"r\">$(for l in a b c; do chain_link $l; done)$(hinge one a b '<mimic joint="two"/>')$(hinge two b c '<mimic joint="one"/>')</robot>" >ring.urdf

# Meshes of packages are found from folders above the robot.
mkdir -p ros/pkg/urdf ros/pkg/meshes
cat >ros/pkg/meshes/a.obj <<'END'
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
END
mesh_robot() { echo "<robot name=\"r\"><link name=\"a\"><visual><geometry><mesh filename=\"$1\"/></geometry></visual></link></robot>"; }
mesh_robot package://pkg/meshes/a.obj >ros/pkg/urdf/m.urdf
expect_exit 0 "$flotsam" import ros/pkg/urdf/m.urdf --fixed --spacing 0.1
expect_json m.json "d['bodies'][0]['shape']['mesh'].endswith('ros/pkg/meshes/a.obj')" True
expect_exit 0 "$flotsam" check m.json
mesh_robot package://pkg/meshes/a.obj >ros/n.urdf
expect_exit 0 "$flotsam" import ros/n.urdf --fixed --spacing 0.1
mesh_robot package://pkg/meshes/b.obj >ros/pkg/urdf/b.urdf

# A joint with the name of a link, which others mimic; a capsule; a planar joint; a floor where the robot stands.
solid() { echo "<link name=\"$1\"><inertial><mass value=\"1\"/></inertial><collision><origin rpy=\"$3\"/><geometry>$2</geometry></collision></link>"; }
cat >cart.urdf <<END
<robot name="cart">
$(solid base '<box size="0.4 0.2 0.1"/>' "0 0 0") $(solid arm '<capsule radius="0.03" length="0.2"/>' "0 0 0")
$(solid tool '<cylinder radius="0.05" length="0.3"/>' "0 1.5707963 0")
<joint name="arm" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.25"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5"/></joint>
<joint name="hand" type="planar"><parent link="base"/><child link="tool"/><origin xyz="0 0.3 0.1"/><axis xyz="0 0 1"/></joint>
</robot>
END
expect_exit 0 "$flotsam" import cart.urdf --spacing 0.02
expect_text err "joint 'arm' has the name of a link; it becomes 'arm-joint'"
expect_json cart.json "[b['shape'].get('capsule') for b in d['bodies']]" "[None, [0.03, 0.2], None]"
expect_json cart.json "[j['name'] for j in d['joints']]" "['arm-joint', 'hand-planar-1', 'hand-planar-2', 'hand-planar-3']"
# Its base is the lowest part: 0.05 m below its origin.
expect_json cart.json "round(d['boundaries'][0]['at'][2] + d['boundaries'][0]['shape']['box'][2] / 2, 9)" -0.05
expect_json cart.json "max(d['boundaries'][0]['shape']['box']) < 2" True
expect_exit 0 "$flotsam" check cart.json
expect_exit 0 "$flotsam" run cart.json --out cart --until 0.2 --threads 1 --quiet --no-picture
python3 - <<'END' || fail "the cart drops, or its planar joint lets go"
import csv, sys
rows = list(csv.DictReader(open("cart/series.csv")))
stands = abs(float(rows[-1]["base.z"]) - float(rows[0]["base.z"])) < 2e-3
flat = max(float(r[f"hand-planar-{k}.open"]) for r in rows for k in (1, 2, 3)) < 1e-6
sys.exit(not (stands and flat))
END

# Mistakes.
try() { # try FILE MESSAGE
  expect_exit 2 "$flotsam" import "$1" --force
  expect_text err "$2"
}
try none.urdf "none.urdf"
try ring.urdf "mimics itself, by way of others"
try ros/pkg/urdf/b.urdf "the mesh 'meshes/b.obj' was not found; tried "
expect_text err "ros/pkg/meshes/b.obj"
echo '<scene/>' >a.urdf
try a.urdf "line 1: this is no URDF file: it begins with <scene> instead of <robot>"
printf '<robot name="r">\n<link name="a"></robot>' >a.urdf
try a.urdf "line 2: mismatched tag"
echo '<robot name="r"></robot>' >a.urdf
try a.urdf "has no links"
echo '<robot name="r"><link name="a"/></robot>' >a.urdf
try a.urdf "no link has a shape or a mass"
link() { echo "<link name=\"$1\"><inertial><mass value=\"1\"/></inertial><visual><geometry><sphere radius=\"0.1\"/></geometry></visual></link>"; }
echo "<robot name=\"r\">$(link a)$(link b)<joint name=\"j\" type=\"plane\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>" >a.urdf
try a.urdf "joint 'j': there is no type 'plane'; it is one of revolute"
for mass in -1 0 nan; do
  link a | sed "s/value=\"1\"/value=\"$mass\"/" | sed 's/.*/<robot name="r">&<\/robot>/' >a.urdf
  try a.urdf "line 1: "
done
expect_text err 'value="nan" must be 1 number'
link a | sed 's/value="1"/value="0"/; s/.*/<robot name="r">&<\/robot>/' >a.urdf
try a.urdf "link 'a' has the mass 0 kg, but it must be above 0"
for inertia in 'ixx="1" iyy="0.1" izz="0.1"' 'ixx="-1" iyy="1" izz="1"' 'ixx="1" iyy="1" izz="1" ixy="2"' 'ixx="1"'; do
  link a | sed "s/<mass value=\"1\"\/>/&<inertia $inertia\/>/; s/.*/<robot name=\"r\">&<\/robot>/" >a.urdf
  try a.urdf "link 'a' has an inertia that no body can have"
done
# Rods, plates and boxes in all directions, with rounded numbers, are bodies. Moments of which one is above the sum of
# the others are not, however they are turned.
python3 - <<'END'
import itertools, math

def turned(moments, direction, angle): # about its first axis by the angle, then that axis into the direction
    x, y, z = (v / math.hypot(*direction) for v in direction)
    c, s, k = math.cos(angle), math.sin(angle), 1 / (1 + x)
    to = [[x, -y, -z], [y, 1 - k*y*y, -k*y*z], [z, -k*y*z, 1 - k*z*z]]
    q = [[r[0], c*r[1] + s*r[2], c*r[2] - s*r[1]] for r in to]
    return lambda i, j: sum(q[i][k] * moments[k] * q[j][k] for k in range(3))

def write(name, of):
    parts = " ".join(f'i{"xyz"[i]}{"xyz"[j]}="{of(i, j):.5g}"' for i in range(3) for j in range(i, 3))
    open(name, "w").write(f'<robot name="r"><link name="a"><inertial><mass value="1"/><inertia {parts}/></inertial>'
                          '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link></robot>')

bodies = {"rod": (1e-4, 0.0834, 0.0834), "plate": (0.05, 0.11, 0.06), "box": (0.03, 0.04, 0.05)}
others = {"long": (0.02, 0.1, 0.06), "thick": (0.1, 0.02, 0.02), "near": (0.05, 0.113, 0.06)}
directions = [*itertools.product((-1, 1), repeat=3), (3, 1, 2), (1, -4, 2), (1, 0, 0), (0, 1, 1)]
for kind, shapes in ("body", bodies), ("other", others):
    for (shape, moments), (k, direction) in itertools.product(shapes.items(), enumerate(directions)):
        write(f"{kind}-{shape}-{k}.urdf", turned(moments, direction, 0.3 * k))
END
for file in body-*.urdf; do expect_exit 0 "$flotsam" import "$file" --force --fixed --spacing 0.02; done
expect_exit 0 "$flotsam" check body-rod-7.json
for file in other-*.urdf; do try "$file" "link 'a' has an inertia that no body can have"; done
echo "<robot name=\"r\">$(link a)$(link b)<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><limit lower=\"1\" upper=\"-1\"/></joint></robot>" >a.urdf
try a.urdf "joint 'j': its lower limit, 1, is above its upper limit, -1; exchange them"
echo "<robot name=\"r\">$(link a)<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint></robot>" >a.urdf
try a.urdf "joint 'j': there is no link 'c'"
echo "<robot name=\"r\">$(link a)$(link b)<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/><axis xyz=\"0 0 0\"/></joint></robot>" >a.urdf
try a.urdf "joint 'j': its axis has no direction"
echo "<robot name=\"r\">$(link a)<link name=\"f\"/><joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"f\"/></joint></robot>" >a.urdf
try a.urdf "link 'f' has neither a shape nor a mass, but the joint 'j' moves it"
echo "<robot name=\"r\">$(link a)$(link a)</robot>" >a.urdf
try a.urdf "there are two links 'a'"
echo '<robot name="r"><link name="a"><visual><geometry><box size="1 two 3"/></geometry></visual></link></robot>' >a.urdf
try a.urdf 'size="1 two 3" must be 3 numbers'
echo '<robot name="r"><link name="a"><visual><geometry><sphere radius="0.1m"/></geometry></visual></link></robot>' >a.urdf
try a.urdf 'radius="0.1m" must be 1 number and nothing else'
echo '<robot name="r"><link name="a"><visual><geometry><box size="1 2 3 4"/></geometry></visual></link></robot>' >a.urdf
try a.urdf 'size="1 2 3 4" must be 3 numbers and nothing else'

finish
