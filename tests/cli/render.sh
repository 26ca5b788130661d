# render: any frame of a run, drawn from its folder.
source "$(dirname "$0")/common.sh"

size() { python3 -c 'import struct, sys; print(*struct.unpack(">II", open(sys.argv[1], "rb").read(24)[16:]))' "$1"; }

expect_exit 0 "$flotsam" run tiny.json --frames 2 --out "my run"
expect_exit 0 "$flotsam" render "my run" --out again.png
expect_text out "picture  again.png"
cmp -s again.png "my run/picture.png" || fail "the last frame drawn from disk differs from the run's own picture"

expect_exit 0 "$flotsam" render "my run" --frame 1 --width 320 --height 200 --colour-by pressure
expect_text out "picture  my run/picture_0001.png"
[[ $(size "my run/picture_0001.png") == "320 200" ]] || fail "the picture is not 320 x 200"

expect_exit 2 "$flotsam" render "my run" --frame 3
expect_text err "there is no frame 3; the last one is 2"
expect_exit 2 "$flotsam" render nowhere
expect_text err "nowhere: is not the folder of a run"
expect_exit 1 "$flotsam" render "my run" --out nowhere/picture.png
head -c 3000 "my run/particles_0002.vtp" >cut && mv cut "my run/particles_0002.vtp"
expect_exit 2 "$flotsam" render "my run"
expect_text err "damaged"
finish
