# render: any frame of a run, drawn from its folder; several; and movies.
source "$(dirname "$0")/common.sh"

size() { python3 -c 'import struct, sys; print(*struct.unpack(">II", open(sys.argv[1], "rb").read(24)[16:]))' "$1"; }
no_temporaries() { [[ -z $(find . -name '*.tmp') ]] || fail "temporary files were left: $(find . -name '*.tmp')"; }
small="--width 160 --height 100"

# Pictures of runs are large: one only, of a short run; the longer one is drawn small.
expect_exit 0 "$flotsam" run tiny.json --frames 1 --out short
expect_exit 0 "$flotsam" render short --out again.png
expect_text out "picture  again.png"
[[ $(size again.png) == "1280 720" ]] || fail "the picture is not 1280 x 720"

# The run's own picture has the same camera and colours: it is the same file, unless another range is asked for.
cmp -s again.png short/picture.png || fail "the run's own picture is another one"
expect_exit 0 "$flotsam" run tiny.json --frames 4 --no-picture --quiet --out "my run"
expect_exit 0 "$flotsam" render "my run" $small --out unnamed.png
expect_exit 0 "$flotsam" render "my run" $small --out named.png --colour-by speed
cmp -s named.png unnamed.png || fail "the scene's own field has other colours when it is named"
expect_exit 0 "$flotsam" render "my run" $small --out half.png --range 0:0.05
cmp -s half.png unnamed.png && fail "--range changes nothing"
for range in 1 2:1 1:1 a:b :1 1: 0:inf nan:1 0:1e-60 fits ""; do
  expect_exit 2 "$flotsam" render "my run" --range "$range"
  expect_text err "--range needs LOW:HIGH such as 0:2.5, not '$range'"
done

# What exists stays, but for the names that are flotsam's own.
cp again.png before.png
expect_exit 2 "$flotsam" render "my run" --frame 1 --out again.png $small
expect_text err "again.png: exists; replace it with --force, or use --out to name another file"
cmp -s again.png before.png || fail "a picture that exists was replaced"
expect_exit 0 "$flotsam" render "my run" --frame 1 --out again.png $small --force
cmp -s again.png before.png && fail "--force did not replace the picture"
mkdir kept && echo mine >kept/picture_0003.png
expect_exit 2 "$flotsam" render "my run" --frames 0:4 --out kept $small
expect_text err "kept/picture_0003.png: exists; replace it with --force"
[[ $(ls kept) == picture_0003.png ]] || fail "pictures were drawn before it was known that there is no place for all"
expect_exit 0 "$flotsam" render "my run" --frames 2:3 --out kept $small --force
expect_exit 0 "$flotsam" render "my run" --frames 2:3 $small
expect_exit 0 "$flotsam" render "my run" --frames 2:3 $small

# The name says what is written.
for name in picture.jpg picture picture.png.bak .png kept; do
  expect_exit 2 "$flotsam" render "my run" --out $name
  expect_text err "$name: a picture's name must end in .png"
done
expect_exit 2 "$flotsam" render "my run" --frames 0:1 --out several.png
expect_text err "several.png is the name of one file, but --frames draws several; name a folder"
expect_no_file several.png

# Where bodies are is read once, however many frames are drawn: a pipe can be read once only. The series is not needed.
cp -r "my run" once
rm once/series.csv once/bodies.csv && mkfifo once/bodies.csv
cat "my run/bodies.csv" >once/bodies.csv &
expect_exit 0 timeout 60 "$flotsam" render once --frames : --out once-pictures $small
cmp -s once-pictures/picture_0003.png kept/picture_0003.png || fail "frame 3 differs if bodies.csv is read once"
head -3 "my run/bodies.csv" >once.csv && rm once/bodies.csv && mv once.csv once/bodies.csv
expect_exit 2 "$flotsam" render once --frame 3 $small
expect_text err "once/bodies.csv: has no rows for frame 3; restore the original file, or choose one of the first 2 frames"
rm once/bodies.csv
expect_exit 2 "$flotsam" render once --frame 3 $small
expect_text err "once/bodies.csv: is missing; restore it, or run the scene again"

expect_exit 0 "$flotsam" render "my run" --frame 1 $small --colour-by pressure
expect_text out "picture  my run/picture_0001.png"
[[ $(size "my run/picture_0001.png") == "160 100" ]] || fail "the picture is not 160 x 100"

# Several frames: each as if it were drawn alone, with any number of threads; the camera and the colours do not depend on
# which are drawn.
expect_exit 0 "$flotsam" render "my run" --frames 1:4:2 $small --threads 2 --out "some/pictures"
expect_text out "picture  some/pictures/picture_0003.png"
[[ $(ls some/pictures) == $'picture_0001.png\npicture_0003.png' ]] || fail "not frames 1 and 3: $(ls some/pictures)"
for threads in 1 2 3; do
  expect_exit 0 "$flotsam" render "my run" --frame 3 $small --threads $threads --out "alone $threads.png" --quiet
  expect_empty out
  cmp -s "alone $threads.png" some/pictures/picture_0003.png || fail "frame 3 differs with $threads threads"
done
expect_exit 0 "$flotsam" render "my run" --frames : $small --out all
(($(ls all | wc -l) == 5)) || fail "not all frames: $(ls all)"
for field in speed density pressure x y z vx vy vz material; do
  expect_exit 0 "$flotsam" render "my run" $small --colour-by $field --out field_$field.png
done
expect_exit 0 "$flotsam" render --help
expect_text out "speed, density, density-error, pressure, x, y, z, vx, vy, vz or material"

# Looks. A run in the plane has no water to show; one in space is drawn as water unless a field is asked for.
expect_exit 2 "$flotsam" render "my run" --look water $small
expect_text err "--look water works with 3D runs only, and my run is 2D"
expect_exit 0 "$flotsam" render "my run" --look particles $small --out plane.png
cat >pool.json <<'END'
{ "schema_version": 1, "title": "A pool", "spacing": 0.1, "duration": 0.1, "frames_per_second": 50,
  "camera": { "from": [0.5, -5, -0.1], "look_at": [0.5, 0, 1.2], "field_of_view": 50 },
  "materials": { "water": { "density": 1000 } },
  "boundaries": [ { "name": "tank", "shape": { "tank": [1, 0.5, 0.8] } } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.5, 0.5, 0.5] }, "corner": [0, 0, 0] } ] }
END
# Seen from below there is no ground, whose light would cost most of the large picture.
expect_exit 0 "$flotsam" run pool.json --frames 1 --out puddle --quiet
expect_exit 0 "$flotsam" render puddle --out puddle.png
cmp -s puddle.png puddle/picture.png || fail "the run's own picture has another look"
expect_exit 0 "$flotsam" run pool.json --frames 4 --out pool --no-picture --quiet
draw() { # NAME OPTIONS...
  local name=$1
  shift
  expect_exit 0 "$flotsam" render pool $small --quiet --out "look_$name.png" "$@"
}
differ() { cmp -s "look_$1.png" "look_$2.png" && fail "pictures $1 and $2 are the same"; }
draw plain
draw water --look water --quality draft --denoise on
cmp -s look_plain.png look_water.png || fail "water, draft and denoise on are not the default"
draw particles --look particles
draw speed --colour-by speed
cmp -s look_particles.png look_speed.png || fail "a field is not shown by particles"
draw painted --look water --colour-by speed
draw noisy --denoise off
draw good --quality good
draw best --quality best --threads 1
draw best2 --quality best --threads 3
cmp -s look_best.png look_best2.png || fail "the best picture depends on the number of threads"
differ water particles
differ water painted
differ painted particles
differ water noisy
differ water good
differ good best
for option in "--look watr" "--look Water" "--quality fine" "--quality 3" "--denoise yes" "--denoise of"; do
  expect_exit 2 "$flotsam" render pool $option
  expect_text err "render: ${option% *} "
  expect_text err "not '${option#* }'"
done
expect_exit 2 "$flotsam" render pool --look watr
expect_text err "--look must be water or particles, not 'watr', did you mean 'water'?"
expect_exit 2 "$flotsam" render pool --quality god
expect_text err "--quality must be draft, good or best, not 'god', did you mean 'good'?"
expect_exit 2 "$flotsam" render pool --look ""
expect_exit 2 "$flotsam" render pool --quality

# Mistakes.
expect_exit 0 "$flotsam" render "my run" $small --frame last --out last.png
cmp -s last.png unnamed.png || fail "--frame last is not the last frame"
for frame in lst -1 1.5 "" 1:2; do
  expect_exit 2 "$flotsam" render "my run" --frame "$frame"
  expect_text err "--frame needs a number or last, not '$frame'"
done
expect_exit 2 "$flotsam" render "my run" --frame 5
expect_text err "there is no frame 5; the last one is 4"
expect_exit 2 "$flotsam" render "my run" --frames 2:5
expect_text err "there is no frame 5; the last one is 4"
expect_exit 2 "$flotsam" render "my run" --frames 9:
expect_text err "there is no frame 9; the last one is 4"
expect_exit 2 "$flotsam" render "my run" --frames 3:1
expect_text err "--frames 3:1: the first frame is after the last"
for range in 3 1:2:0 a:b 1:2:3:4 -1:2 1:2x "" 99999999999999999999:; do
  expect_exit 2 "$flotsam" render "my run" --frames "$range"
  expect_text err "--frames needs A:B or A:B:STEP such as 0:20:2, not '$range'"
done
expect_exit 2 "$flotsam" render "my run" --frame 1 --frames 1:2
expect_text err "give only one"
expect_exit 2 "$flotsam" render "my run" --fps 10
expect_text err "--fps works with movies only"
expect_exit 2 "$flotsam" render "my run" --colour-by presure
expect_text err "cannot colour by 'presure', did you mean 'pressure'?"
expect_exit 2 "$flotsam" render nowhere
expect_text err "nowhere: is not the folder of a run"

# No place to write to: bad input, found before anything is drawn.
expect_exit 2 "$flotsam" render "my run" --out nowhere/picture.png
expect_text err "nowhere/picture.png: cannot write: No such file or directory"
expect_exit 2 "$flotsam" render "my run" --frames 0:1 --out tiny.json/folder
mkdir folder.png
expect_exit 2 "$flotsam" render "my run" --out folder.png
expect_text err "folder.png: cannot write: Is a directory"
expect_exit 2 "$flotsam" render "my run" --movie nowhere/movie.mp4
expect_text err "nowhere/movie.mp4: cannot write: No such file or directory"
expect_exit 2 "$flotsam" render "my run" --movie movie.avi
expect_text err "movie.avi: is no name for a movie"
expect_exit 2 "$flotsam" render "my run" --movie movie.mp4 --frame 1
expect_exit 2 "$flotsam" render "my run" --movie movie.mp4 --out movie.png
expect_no_file movie.mp4

# Movies, with stand-ins for ffmpeg that fail in their ways. What was there before stays.
stand_in() {
  mkdir -p bin
  printf '#!/bin/sh\n%s\n' "$1" >bin/ffmpeg
  chmod +x bin/ffmpeg
}
with_stand_in() { PATH=$work/bin:$PATH "$flotsam" render "my run" $small --movie old.mp4 --force; }
without_ffmpeg() { PATH=$work/empty "$flotsam" render "my run" --movie old.mp4 --force; }
echo old >old.mp4
expect_exit 2 "$flotsam" render "my run" --movie old.mp4
expect_text err "old.mp4: exists; replace it with --force, or use --movie to name another file"
expect_exit 2 without_ffmpeg
expect_text err "apt-get install ffmpeg"
stand_in 'echo first >&2; echo "No space left on device" >&2; echo "Conversion failed!" >&2; exit 7'
expect_exit 1 with_stand_in
expect_text err "old.mp4: ffmpeg failed with exit code 7: No space left on device"
stand_in 'head -c 1000 >/dev/null; echo "gives up" >&2; exit 3'
expect_exit 1 with_stand_in
expect_text err "ffmpeg failed with exit code 3: gives up"
stand_in 'exit 0'
expect_exit 1 with_stand_in
expect_text err "ffmpeg ended before the last picture"
stand_in 'kill -9 $$'
expect_exit 1 with_stand_in
expect_text err "ffmpeg was ended by signal 9"
stand_in 'cat >/dev/null; echo "at the end" >&2; exit 4'
expect_exit 1 with_stand_in
expect_text err "ffmpeg failed with exit code 4: at the end"
stand_in 'exec sleep 60'
signals=TERM
((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status) & 1)) || signals="TERM HUP" # what is ignored stays so
for signal in $signals; do
  PATH=$work/bin:$PATH "$flotsam" render "my run" $small --movie old.mp4 --force 2>err &
  process=$!
  for ((k = 0; k < 200; k++)); do
    [[ -n $(find . -name 'old.mp4.*.tmp') ]] && break
    sleep 0.05
  done
  sleep 0.3
  kill -s "$signal" $process
  wait $process
  (($? == 1)) || fail "a movie interrupted by $signal did not end with exit code 1"
  expect_text err "old.mp4: interrupted, no movie was made"
  expect_text old.mp4 old
  no_temporaries
done

# What a stand-in that takes everything gets: all pictures, of even size; an odd name is no option.
stand_in 'for last; do :; done; printf "%s\n" "$*" >arguments; wc -c >"${last#file:}"'
PATH=$work/bin:$PATH expect_exit 0 "$flotsam" render "my run" --movie "./-odd:name .MP4" --width 33 --height 17 --fps 12.5
expect_text out "movie    ./-odd:name .MP4: 5 frames, 12.5 per second, 4 times slower than life"
expect_text arguments "-video_size 34x18 -framerate 12.5"
expect_text arguments "-pix_fmt yuv420p"
[[ $(<"./-odd:name .MP4") == $((5 * 34 * 18 * 3)) ]] || fail "ffmpeg did not get five pictures"
PATH=$work/bin:$PATH expect_exit 0 "$flotsam" render "my run" --movie a.gif --frames 0:4:2 --width 33 --height 17
expect_text arguments "-video_size 33x17 -framerate 25"
[[ $(<a.gif) == $((3 * 33 * 17 * 3)) ]] || fail "ffmpeg did not get three pictures"

# Pictures of a movie are kept, and drawn again only if they would look different.
PATH=$work/bin:$PATH
expect_exit 0 "$flotsam" render pool $small --frames 0:2 --movie kept.mp4
expect_file pool/movie/settings.json
[[ $(ls pool/movie) == $'picture_0000.png\npicture_0001.png\npicture_0002.png\nsettings.json' ]] || fail "kept: $(ls pool/movie)"
before=$(stat -c %y pool/movie/picture_0001.png)
expect_exit 0 "$flotsam" render pool $small --movie kept.mp4 --force
expect_text out "frames   2 drawn, 3 existed already in pool/movie"
[[ $(stat -c %y pool/movie/picture_0001.png) == "$before" ]] || fail "a kept picture was drawn again"
[[ $(<kept.mp4) == $((5 * 160 * 100 * 3)) ]] || fail "ffmpeg did not get five pictures"
draw movie --frame 1
cmp -s look_movie.png pool/movie/picture_0001.png || fail "a movie's picture is not what render draws"
echo broken >pool/movie/picture_0002.png
touch pool/particles_0003.vtp
expect_exit 0 "$flotsam" render pool $small --movie kept.mp4 --force --fps 5
expect_text out "frames   2 drawn, 3 existed already"
for change in --caption "--quality good" "--denoise off" "--look particles" "--width 162"; do
  expect_exit 0 "$flotsam" render pool $small --frames 0:1 --movie kept.mp4 --force $change
  grep -q "existed already" out && fail "pictures were kept though $change changes them"
done
# One that is interrupted goes on where it stopped.
rm -r pool/movie
stand_in 'head -c 100000 >/dev/null; exit 3'
expect_exit 1 "$flotsam" render pool $small --movie kept.mp4 --force
stand_in 'for last; do :; done; wc -c >"${last#file:}"'
expect_exit 0 "$flotsam" render pool $small --movie kept.mp4 --force
expect_text out "existed already in pool/movie"
if ((UID != 0)); then
  rm -r pool/movie && chmod a-w pool
  expect_exit 0 "$flotsam" render pool $small --frames 0:1 --movie kept.mp4 --force
  chmod u+w pool
fi
PATH=${PATH#"$work/bin:"}

# A run that is not complete: a frame is missing, so are all behind it.
cp -r "my run" partial
rm partial/particles_0003.vtp partial/summary.json
PATH=$work/bin:$PATH expect_exit 0 "$flotsam" render partial --movie b.mkv --width 32 --height 32
expect_text out "3 frames"

# The real one.
if command -v ffmpeg >/dev/null; then
  expect_exit 0 "$flotsam" render "my run" --movie old.mp4 --force --width 161 --height 101
  expect_text out "movie    old.mp4: 5 frames, 50 per second"
  if command -v ffprobe >/dev/null; then
    probe=$(ffprobe -v error -count_frames -select_streams v:0 -of csv=p=0 \
      -show_entries stream=width,height,pix_fmt,nb_read_frames,r_frame_rate old.mp4)
    [[ $probe == "162,102,yuv420p,50/1,5" ]] || fail "old.mp4 has $probe"
  fi
fi
no_temporaries

head -c 3000 "my run/particles_0004.vtp" >cut && mv cut "my run/particles_0004.vtp"
expect_exit 2 "$flotsam" render "my run"
expect_text err "damaged"
expect_exit 0 "$flotsam" render "my run" --frame 2 $small

# ---- To measure by: slices, arrows, traces, parallel rays, a lens ----

cat >lagoon.json <<'END'
{ "schema_version": 1, "up": "z", "spacing": 0.05, "duration": 0.2, "frames_per_second": 50, "materials": { "water": {} },
  "boundaries": [
    { "name": "tank", "shape": { "tank": [1, 0.4, 0.6] } },
    { "name": "lift", "shape": { "box": [0.1, 0.1, 0.1] }, "at": [0.7, 0.2, 0.1], "look": "red",
      "motions": [ { "translate": [0, 0, 8] } ] } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.5, 0.4, 0.3] }, "corner": [0, 0, 0] } ] }
END
expect_exit 0 "$flotsam" run lagoon.json --frames 2 --no-picture --quiet --out lagoon
small=(--width 160 --height 90 --quiet --force)
expect_exit 0 "$flotsam" render lagoon --out plain.png "${small[@]}"
for what in "--slice y=0.2" "--slice y=0.2 --colour-by density-error" "--slice z=0.1 --colour-by pressure --view z" \
  "--view y" "--view -y" "--vectors 0.05" "--traces" "--aperture 0.2" "--aperture 0.2 --focus 0.5"; do
  # shellcheck disable=SC2086 # words are options
  expect_exit 0 "$flotsam" render lagoon $what --out "with $what.png" "${small[@]}"
  for other in plain.png with*.png; do
    [[ $other == "with $what.png" ]] || ! cmp -s "$other" "with $what.png" || fail "$what draws what $other shows"
  done
done
expect_exit 0 "$flotsam" render lagoon --aperture 0.2 --threads 1 --out one.png "${small[@]}"
cmp -s one.png "with --aperture 0.2.png" || fail "a lens depends on the number of threads"
# Pictures of a movie that were drawn otherwise are drawn anew.
if command -v ffmpeg >/dev/null; then
  expect_exit 0 "$flotsam" render lagoon --movie lagoon.mp4 --width 64 --height 48 --force
  expect_exit 0 "$flotsam" render lagoon --movie lagoon.mp4 --width 64 --height 48 --force --traces
  ! grep -q "existed already" out || fail "pictures without traces were taken"
  expect_exit 0 "$flotsam" render lagoon --movie lagoon.mp4 --width 64 --height 48 --force --traces
  expect_text out "3 existed already"
fi
# Spray lacks most of its density: that does not widen the range of errors, which is the same for all frames.
python3 - >spray.csv <<'PYTHON'
print("x,y,z")
for k in range(8 ** 3): print(0.125 + 0.05 * (k % 8), 0.025 + 0.05 * (k // 8 % 8), 0.025 + 0.05 * (k // 64), sep=",")
for k in range(64): print(0.6 + 0.1 * (k % 4), 0.05 + 0.1 * (k // 4 % 4), 0.7 + 0.2 * (k // 16), sep=",")
PYTHON
cat >spray.json <<'END'
{ "schema_version": 1, "up": "z", "spacing": 0.05, "duration": 0.04, "frames_per_second": 50, "materials": { "water": {} },
  "boundaries": [ { "name": "tank", "shape": { "tank": [1, 0.4, 1.6] } } ],
  "particles": [ { "material": "water", "file": "spray.csv" } ] }
END
expect_exit 0 "$flotsam" run spray.json --no-picture --quiet --out spray
for field in density-error density; do
  PATH=$work/bin:$PATH expect_exit 0 "$flotsam" render spray --movie spray.mp4 --colour-by $field --width 64 --height 48 --force
  json spray/movie/settings.json "'%s' % d['range']" >"$field.range"
done
python3 - "$(<density-error.range)" "$(<density.range)" <<'PYTHON' || fail "ranges of density follow the spray: $(cat ./*.range)"
import json, sys
error, density = (json.loads(text) for text in sys.argv[1:])
assert error[0] == -error[1] and 0 < error[1] <= 20, error
assert abs(density[0] - 10 * (100 - error[1])) < 0.1 and abs(density[1] - 10 * (100 + error[1])) < 0.1, density
PYTHON
for bad in y 0.2 w=1 y= y=x y=nan =1; do
  expect_exit 2 "$flotsam" render lagoon --slice "$bad" --out x.png
  expect_text err "--slice needs an axis and a position [m] such as z=0.5, not '$bad'"
done
expect_exit 0 "$flotsam" render lagoon --from 2,-1,1.5 --look-at 0.2,0.2,0 --out aside.png --look particles "${small[@]}"
expect_exit 0 "$flotsam" render lagoon --from 2,-1,1.5 --look-at 0.2,0.2,0 --field-of-view 60 --out wide.png --look particles "${small[@]}"
if cmp -s aside.png wide.png; then fail "the field of view changes nothing"; fi
expect_exit 0 "$flotsam" render lagoon --spray --out spray.png --width 480 --height 270 --quiet --force
expect_exit 0 "$flotsam" render lagoon --look water --out plain.png --width 480 --height 270 --quiet --force
if cmp -s spray.png plain.png; then fail "spray in colours has no legend"; fi
for what in "--slice y=0.2" "--look particles"; do
  expect_exit 2 "$flotsam" render lagoon --spray $what --out x.png
  expect_text err "--spray works with pictures of water only; leave out --slice and --look particles"
done
expect_exit 2 "$flotsam" render lagoon --from 2,-1 --look-at 0,0,0 --out x.png
expect_text err "--from needs three numbers [m] such as 1,-2,0.5, none larger than 1e+06, not '2,-1'"
expect_exit 2 "$flotsam" render lagoon --from 1e20,0,0 --look-at 0,0,0 --out x.png
expect_text err "none larger than 1e+06"
expect_exit 2 "$flotsam" render lagoon --from 0,0,-0 --look-at 0,1e-60,0 --out x.png
expect_text err "--from and --look-at are the same point"
expect_exit 2 "$flotsam" render lagoon --from 1,1,1 --look-at 1,1,1 --out x.png
expect_text err "--from and --look-at are the same point"
expect_exit 2 "$flotsam" render lagoon --from 1,1,1 --view x --out x.png
expect_text err "--view looks along an axis; leave out --from"
expect_exit 2 "$flotsam" render lagoon --view up --out x.png
expect_text err "--view must be x, y, z, -x, -y or -z, not 'up'"
expect_exit 2 "$flotsam" render lagoon --slice y=0 --look water --out x.png
expect_text err "leave out --look water"
expect_exit 2 "$flotsam" render lagoon --slice y=0 --colour-by material --out x.png
expect_text err "needs a field with values"
expect_exit 2 "$flotsam" render lagoon --focus 1 --out x.png
expect_text err "--focus works only with --aperture"
for other in "--look particles" "--colour-by speed" "--slice y=0.2"; do
  # shellcheck disable=SC2086 # words are options
  expect_exit 2 "$flotsam" render lagoon --aperture 0.2 $other --out x.png
  expect_text err "--aperture works with pictures of water only"
done
# A plane beside all fluid is refused, with where the fluid is; between particles of a lattice it is not.
for place in 3 -1; do
  expect_exit 2 "$flotsam" render lagoon --slice "y=$place" --out beside.png "${small[@]}"
  expect_text err "render: lagoon: --slice y=$place meets no fluid"
done
expect_no_file beside.png
for frame in 0 last; do
  expect_exit 0 "$flotsam" render lagoon --frame $frame --slice y=0.2 --out within.png "${small[@]}"
  expect_empty err
done
cat >blob.json <<'END'
{ "schema_version": 1, "spacing": 0.05, "duration": 0.04, "frames_per_second": 50, "gravity": 0,
  "fluids": [ { "material": {}, "shape": { "box": 0.2 }, "corner": [0, 0, 0], "velocity": [2, 0, 0] } ] }
END
expect_exit 0 "$flotsam" run blob.json --no-picture --quiet --out blob
expect_exit 2 "$flotsam" render blob --frame 0 --slice x=0.25 --out beside.png "${small[@]}"
expect_text err "--slice x=0.25 meets no fluid; the fluid in this frame is from 0.025 m to 0.175 m along x; name"
expect_no_file beside.png
# Half a spacing around the outermost particles is fluid.
expect_exit 0 "$flotsam" render blob --frame 0 --slice x=0.2 --out edge.png "${small[@]}"
expect_exit 2 "$flotsam" render blob --frame 0 --slice x=0.202 --out beside.png "${small[@]}"
# Of several frames one that is met is enough; the others are told.
expect_exit 0 "$flotsam" render blob --frames 0:2 --slice x=0.25 --out blobs "${small[@]}"
expect_text err "--slice x=0.25 meets no fluid in frame 0, so the picture shows none"
expect_file blobs/picture_0002.png
expect_exit 2 "$flotsam" render blob --frames 0:2 --slice x=1 --out beside "${small[@]}"
expect_text err "--slice x=1 meets no fluid"
expect_no_file beside/picture_0000.png
expect_exit 2 "$flotsam" render blob --movie blob.mp4 --slice x=1 "${small[@]}"
expect_no_file blob.mp4
# A frame without fluid has nowhere to cut.
cat >tap.json <<'END'
{ "schema_version": 1, "spacing": 0.05, "duration": 0.04, "frames_per_second": 50,
  "boundaries": [ { "name": "tank", "shape": { "tank": 1 } } ],
  "emitters": [ { "material": {}, "diameter": 0.2, "at": [0.5, 0.5, 0.8], "direction": [0, 0, -1], "speed": 2, "start": 0.03 } ] }
END
expect_exit 0 "$flotsam" run tap.json --frames 1 --no-picture --quiet --out tap
expect_exit 2 "$flotsam" render tap --slice x=0.5 --out beside.png "${small[@]}"
expect_text err "render: tap: --slice x=0.5 meets no fluid, because this frame has none; choose others with --frame or --frames"
expect_no_file beside.png
expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --quiet --out plane
expect_exit 2 "$flotsam" render plane --slice y=0.1 --out x.png
expect_text err "work with 3D runs only"
expect_exit 2 "$flotsam" render plane --spray --out x.png
expect_text err "--spray works with 3D runs only"
expect_exit 2 "$flotsam" render plane --from 1,1,1 --look-at 0,0,0 --out x.png
expect_text err "work with 3D runs only"
expect_exit 2 "$flotsam" render plane --aperture 0.1 --out x.png
expect_text err "--aperture works with pictures of water only"
expect_exit 0 "$flotsam" render plane --vectors 0.1 --traces --out plane.png "${small[@]}"
expect_no_file x.png
finish
