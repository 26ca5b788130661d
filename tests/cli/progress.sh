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
expect_exit 0 python3 terminal.py "density error" "$flotsam" run tiny.json --set spacing=0.01 --until 0.09 --no-picture --out bar
expect_text out "folder   bar"
expect_exit 1 python3 terminal.py "density error" "$flotsam" run tiny.json --set spacing=0.01 --until 0.09 --no-picture --quiet --out quiet
expect_empty out

# The same for pictures, with the time to go and the frame at hand.
large="--width 2000 --height 1500 --threads 1"
expect_exit 0 python3 terminal.py ", 2 of 2" "$flotsam" render bar --frames 0:1 $large
expect_text out "ETA"
expect_exit 1 python3 terminal.py ", 2 of 2" "$flotsam" render bar --frames 0:1 $large --quiet
expect_empty out
finish
