# Progress: none in files unless a run is long, a bar on a terminal, none with --quiet; never on standard output.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" run tiny.json --frames 1 --no-picture --out plain
expect_empty err

cat >terminal.py <<'END'
import os, pty, sys
chunks = []
def read(fd):
    data = os.read(fd, 65536)
    chunks.append(data)
    return data
status = pty.spawn(sys.argv[1:], read)
sys.exit(0 if b"density error" in b"".join(chunks) and os.waitstatus_to_exitcode(status) == 0 else 1)
END
expect_exit 0 python3 terminal.py "$flotsam" run tiny.json --set spacing=0.01 --until 0.09 --no-picture --out bar
expect_text out "folder   bar"
expect_exit 1 python3 terminal.py "$flotsam" run tiny.json --set spacing=0.01 --until 0.09 --no-picture --quiet --out quiet
expect_empty out
finish
