# Progress: none in files unless a run is long, a bar on a terminal, none with --quiet; never on standard output.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --out plain
expect_empty err

cat >terminal.py <<'END'
import os, pty, sys
word, command = sys.argv[1], sys.argv[2:]
chunks = []
def read(fd):
    data = os.read(fd, 65536)
    chunks.append(data)
    return data
status = pty.spawn(command, read)
sys.exit(0 if word.encode() in b"".join(chunks) and os.waitstatus_to_exitcode(status) == 0 else 1)
END
expect_exit 0 python3 terminal.py "density error" "$flotsam" run tiny.json --set spacing=0.01 --set duration=1 --until 0.3 --no-picture --out bar
expect_text out "folder   bar"
expect_exit 1 python3 terminal.py "density error" "$flotsam" run tiny.json --set spacing=0.01 --set duration=1 --until 0.3 --no-picture --quiet --out quiet
expect_empty out

# Every line fits the terminal, whatever its width, and ends with a whole measurement.
cat >widths.py <<'END'
import fcntl, os, pty, re, struct, sys, termios
width, command = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    os.execv(command[0], command)
data = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    data += part
os.waitpid(pid, 0)
lines = [line.replace("\x1b[K", "") for line in re.split("[\r\n]+", data.decode()) if line.startswith("[")]
assert len(lines) > 2, data
for line in lines:
    assert len(line) < width, (len(line), line)
    assert re.fullmatch(r"\[[#.]{5,30}\] \d+ %(  ETA (-|[\d:]+)(  t \S+ s(  density error \S+ %(  step \d+(  dt \S+ s)?)?)?)?)?", line), line
shows_all = any("density error" in line for line in lines)
assert shows_all == (width >= 80), lines
END
for width in 24 80 200; do
  expect_exit 0 python3 widths.py $width "$flotsam" run tiny.json --set spacing=0.01 --set duration=1 --until 0.4 --no-picture --out "width $width"
done

# So does a run while it draws, of water, which takes some time. Seen from below there is no ground, which would take most.
cat >pool.json <<'END'
{ "schema_version": 1, "spacing": 0.1, "duration": 0.02, "frames_per_second": 100, "materials": { "water": {} },
  "camera": { "from": [0.5, -3, -0.1], "look_at": [0.5, 0, 0.6] },
  "boundaries": [ { "name": "tank", "shape": { "tank": [1, 0.5, 0.8] } } ],
  "fluids": [ { "material": "water", "shape": { "box": [0.5, 0.5, 0.5] }, "corner": [0, 0, 0] } ] }
END
expect_exit 0 python3 terminal.py "drawing the picture" "$flotsam" run pool.json --threads 1 --out pool
expect_text out "ETA"
expect_text out "picture  pool/picture.png"

# The same for pictures, with the time to go and the frame at hand.
large="--width 2000 --height 1500 --threads 1"
expect_exit 0 python3 terminal.py ", 2 of 2" "$flotsam" render bar --frames 0:1 $large
expect_text out "ETA"
expect_exit 1 python3 terminal.py ", 2 of 2" "$flotsam" render bar --frames 0:1 $large --quiet
expect_empty out
finish
