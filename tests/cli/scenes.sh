# Scenes that come with the program are fine, and wrong ones are refused before anything is written.
source "$(dirname "$0")/common.sh"

expect_exit 2 "$flotsam" run nowhere.json
expect_text err "nowhere.json: there is no such scene file (paths start at the current folder; 'flotsam info scenes' lists"
for path in dam-braek.json some/where/dam-break.json some/dam-brek; do
  expect_exit 2 "$flotsam" check "$path"
  expect_text err "$path: there is no such scene file, did you mean 'dam-break'? (paths start at the current folder"
done
expect_exit 2 "$flotsam" check "$(printf '%0300d' 1).json"
expect_text err "1.json: there is no such scene file (paths"
expect_exit 2 "$flotsam" run dam-braek
expect_text err "did you mean 'dam-break'?"
for folder in . .. "$PWD"; do
  expect_exit 2 "$flotsam" check "$folder"
  expect_text err "$folder: is a folder, not a scene file"
done
: >empty.json
echo >blank.json
for file in empty.json blank.json; do
  expect_exit 2 "$flotsam" run "$file"
  expect_text err "$file: is empty; a scene is a JSON object"
done
expect_exit 2 "$flotsam" run tiny.json --set boundaries.tnak.look=red
expect_text err "did you mean 'tank'?"
for method in direct-forcing unified elastic constraint monolithic; do
  # Those that have come in the meantime need no excuse.
  "$flotsam" info methods | grep -q "^  $method " && continue
  expect_exit 2 "$flotsam" run tiny.json --method "$method"
  expect_text err "method '$method' is planned but not available yet; there is wcsph"
done
expect_exit 2 "$flotsam" run tiny.json --set spacng=0.1
expect_text err "did you mean 'spacing'?"
expect_exit 2 "$flotsam" run tiny.json --set spacing=-1
expect_text err "/spacing: must be > 0, got -1"
expect_exit 2 "$flotsam" run tiny.json --set spacing
for set in spacing= "spacing= "; do
  expect_exit 2 "$flotsam" run tiny.json --set "$set"
  expect_text err "tiny.json: --set $set: the value after '=' is missing; write path=value, such as spacing=0.01"
done
for set in =3 =; do
  expect_exit 2 "$flotsam" run tiny.json --set "$set"
  expect_text err "tiny.json: --set $set: the path before '=' is missing; write path=value, such as spacing=0.01"
done
expect_exit 2 "$flotsam" run tiny.json --set "materials.water.density=1000 kg"
expect_text err "/materials/water/density: \"1000 kg\", column 6: expected an operator or the end, got 'k'; numbers are in SI"
expect_exit 2 "$flotsam" run tiny.json --method wcspj
expect_text err "did you mean 'wcsph'?"
expect_exit 2 "$flotsam" run tiny.json --size huge
expect_text err "huge"
printf '{ "title": ' >broken.json
expect_exit 2 "$flotsam" run broken.json
expect_text err "broken.json"
expect_empty out
expect_no_file runs

n_scenes=0
for scene in $("$flotsam" info scenes --json | python3 -c 'import json, sys; print(*json.load(sys.stdin))'); do
  # A third of them where the program is slow.
  ((${FLOTSAM_SLOW:-0} && n_scenes++ % 3)) && continue
  # The smallest size a scene has, so that even large ones are read quickly.
  if ! "$flotsam" check "$scene" --size draft --no-picture --json >out 2>err; then
    expect_text err "draft"
    expect_exit 0 "$flotsam" check "$scene" --no-picture --json
  fi
  expect_json out "d['time_step'] > 0" True
done
# What emitters are going to make is part of the estimate: 1.5 m/s through a disc of 0.1 m for 3 s, 1 m/s through a slit
# for 2 s.
expect_exit 0 "$flotsam" check emitter --json
expect_json out "abs(d['emitted'] / ((1.5 * 3 * 0.1**2 * 0.785398 + 1 * 2 * 0.2 * 0.06) / 0.015**3) - 1) < 0.01" True
finish
