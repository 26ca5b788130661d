# plot: columns of the series as SVG and PNG, found by name or pattern, in plots that fit together.
source "$(dirname "$0")/common.sh"

size() { python3 -c 'import struct, sys; print(*struct.unpack(">II", open(sys.argv[1], "rb").read(24)[16:]))' "$1"; }
# texts FILE: what is written in an SVG, one line each; fails if it is no XML.
texts() { python3 -c 'import sys, xml.etree.ElementTree as e
for t in e.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}text"): print(t.text)' "$1"; }
expect_line() { # FILE LINE
  texts "$1" >words
  grep -qxF -- "$2" words || fail "no text '$2' in $1: $(tr '\n' '|' <words)"
}

expect_exit 0 "$flotsam" run tiny.json --frames 3 --no-picture --quiet --out "my run"

expect_exit 0 "$flotsam" plot "my run"
expect_text out "plot     my run/plot.svg"
expect_text out "plot     my run/plot.png"
for text in "A puddle for tests" "energy [J/m]" "kinetic energy" "potential energy" "max speed [m/s]" "density error" \
  "dt [s]" "front [m]" "level [m]" "time [s]"; do
  expect_line "my run/plot.svg" "$text"
done
[[ $(size "my run/plot.png") == "900 1000" ]] || fail "six plots are $(size "my run/plot.png")"

# Columns by name and pattern; one plot for what belongs together; --out writes one file only.
expect_exit 0 "$flotsam" plot "my run" --columns 'momentum_?,tank.f*,dt' --x step --out some.svg --width 700 --height 600
expect_line some.svg "momentum [kg/s]"
expect_line some.svg "momentum y"
expect_line some.svg "force [N/m]"
expect_line some.svg "tank.fx"
expect_line some.svg "step"
grep -q 'width="700" height="600"' some.svg || fail "the sheet is not 700 x 600"
expect_no_file some.png
expect_exit 0 "$flotsam" plot "my run" --columns max_speed --columns dt --out two.png
cp two.png before.png
expect_exit 2 "$flotsam" plot "my run" --columns dt --out two.png
expect_text err "two.png: exists; replace it with --force, or name another file with --out"
cmp -s two.png before.png || fail "a plot that exists was replaced"
expect_exit 0 "$flotsam" plot "my run" --columns dt --out two.png --force
cmp -s two.png before.png && fail "--force did not replace the plot"
cp before.png two.png
expect_exit 0 "$flotsam" plot "my run" # the names of its own are replaced, as often as it is asked
expect_exit 0 "$flotsam" plot "my run"
[[ $(size two.png) == "900 400" ]] || fail "two plots are $(size two.png)"
expect_exit 0 "$flotsam" plot "my run" --columns density_error_max --log --out log.svg
texts log.svg >words
grep -q '^\(1e-[0-9]*\|0\.0*1\|1\)$' words || fail "no powers of ten: $(cat words)"
expect_exit 0 "$flotsam" plot "my run" --columns residual --log --out none.svg
expect_line none.svg "no positive values"
expect_exit 0 "$flotsam" plot "my run" --columns '*' --out all.svg

# The line is the data: two rows of known values meet the frame's corners.
mkdir data
printf 'time,a\n0,1\n2,3\n' >data/series.csv
expect_exit 0 "$flotsam" plot data --columns a --out line.svg
cat >line.py <<'END'
import re
svg = open("line.svg").read()
path = re.search(r'<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', svg)
x0, y0, x1, y1 = map(float, path.groups())
def labels(anchor):
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*text-anchor="%s"[^>]*>([\d.]+)<' % anchor, svg)
    return {text: (float(x), float(y)) for x, y, text in found}
along_x, along_y = labels("middle"), labels("end")
half = 5.25 # of a label's height
assert (x0, x1) == (along_x["0.0"][0], along_x["2.0"][0]), (along_x, x0, x1)
assert abs(along_y["1.0"][1] - half - y0) < 1 and abs(along_y["3.0"][1] - half - y1) < 1, (along_y, y0, y1)
END
expect_exit 0 python3 line.py

# Sizes that differ by far get plots of their own, but parts of a vector stay together.
printf 'time,kinetic_energy,potential_energy,momentum_x,momentum_y\n0,1,1e6,1e-3,1\n1,2,2e6,2e-3,2\n' >data/series.csv
expect_exit 0 "$flotsam" plot data --columns '*energy,momentum*' --out apart.svg
expect_line apart.svg "kinetic energy [J]"
expect_line apart.svg "potential energy [J]"
expect_line apart.svg "momentum [kg m/s]"

# ---- Little data ----

printf 'time,a\n0,1\n' >data/series.csv
expect_exit 0 "$flotsam" plot data --columns a
expect_file data/plot.png
printf 'time,a\n0,nan\n1,inf\n' >data/series.csv
expect_exit 0 "$flotsam" plot data --columns a --out nan.svg
expect_line nan.svg "no values"
printf 'time,a\n0,1\n1,2\n2,' >data/series.csv
expect_exit 0 "$flotsam" plot data --columns a --out cut.png
printf 'time,a\n' >data/series.csv
expect_exit 2 "$flotsam" plot data --columns a
expect_text err "has no rows yet"
: >data/series.csv
expect_exit 2 "$flotsam" plot data
printf 'time,a\n0\n' >data/series.csv
expect_exit 2 "$flotsam" plot data --columns a
expect_text err "line 2: columns are missing"

# ---- Mistakes ----

expect_exit 2 "$flotsam" plot "my run" --columns max_sped
expect_text err "there is no column 'max_sped', did you mean 'max_speed'?"
expect_exit 2 "$flotsam" plot "my run" --columns 'nothing*'
expect_text err "there is no column 'nothing*'"
expect_exit 2 "$flotsam" plot "my run" --x tiem
expect_text err "did you mean 'time'?"
expect_exit 2 "$flotsam" plot "my run" --out plot.jpg
expect_text err "ends with .svg or .png"
expect_exit 2 "$flotsam" plot "my run" --height 160
expect_text err "a plot must have"
expect_exit 2 "$flotsam" plot nowhere
expect_text err "there is no such folder"
expect_exit 2 "$flotsam" plot "my run" --out nowhere/a.png
expect_text err "plot: nowhere/a.png: there is no folder 'nowhere'"
mkdir folder.png
expect_exit 2 "$flotsam" plot "my run" --force --out folder.png
expect_text err "plot: folder.png: is a folder; name a file in it"
finish
