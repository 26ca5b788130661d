# The documentation keeps up with the program: the README's scene runs, every measurement of every run is explained.
source "$(dirname "$0")/common.sh"
root=$here/../..

sed -n '/^```json$/,/^```$/p' "$root/README.md" | sed '/^```/d' >puddle.json
expect_exit 0 "$flotsam" run puddle.json --frames 1 --no-picture --set constants.s=0.04
expect_text runs/puddle/scene.json "A block of water falls into a tank"

for name in $(head -1 runs/puddle/series.csv | tr ',' ' '); do
  case $name in
  tank.* | front) ;;
  *) expect_text "$root/docs/measurements.md" "\`$name\`" ;;
  esac
done
for key in $(json runs/puddle/summary.json "' '.join(d)"); do
  expect_text "$root/docs/measurements.md" "\`$key\`"
done
for method in $("$flotsam" info methods --json | python3 -c 'import json, sys; print(*[m["name"] for m in json.load(sys.stdin)])'); do
  expect_text "$root/README.md" "| \`$method\` |"
done
finish
