# What a checkpoint relies on is on disk before it: a library in between writes down every fsync and rename.
source "$(dirname "$0")/common.sh"
cp "$here/lively.json" .
command -v cc >/dev/null || exit 77

cat >spy.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static pthread_t first;
__attribute__((constructor)) static void begin(void) { first = pthread_self(); }
static void put(const char *what, const char *path) {
  char line[5000];
  int log = open("spied", O_WRONLY | O_APPEND | O_CREAT, 0666);
  int n = snprintf(line, sizeof line, "%s %s %s\n", what, pthread_equal(pthread_self(), first) ? "main" : "other", path);
  if (write(log, line, (size_t)n) < 0) _exit(99);
  close(log);
}
int fsync(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  path[n < 0 ? 0 : n] = 0;
  put("sync", path);
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
int rename(const char *from, const char *to) {
  int result = ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
  put("rename", to);
  return result;
}
END
cc -shared -fPIC -o spy.so spy.c -ldl -pthread || exit 77
[[ -e /proc/self/fd ]] || exit 77

# spied OPTIONS...: runs with the library; what it wrote down is in the file spied.
spied() {
  rm -rf run spied
  ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=$work/spy.so \
    expect_exit 0 "$flotsam" run lively.json --until 0.2 --no-picture --quiet --out run "$@"
}

# At each checkpoint that gets its name: all frames that it counts, and both tables, have been brought to disk since they
# were written last, then the folder, then the checkpoint itself; afterwards the folder once more.
check() {
  python3 - "$work/run" <<'PYTHON'
import sys
folder = sys.argv[1]
frames, synced, counts, n_checkpoints, folder_synced, pending = set(), set(), {}, 0, False, False
for line in open("spied"):
    what, thread, path = line.rstrip("\n").split(" ", 2)
    if not path.startswith("/"): path = folder.rsplit("/", 1)[0] + "/" + path
    name = path[len(folder) + 1:]
    if what == "rename" and name.startswith("particles_"):
        frames.add(name)
        folder_synced = False
        synced -= {"series.csv", "bodies.csv"}
    if what == "sync":
        if path == folder:
            folder_synced, pending = True, False
        else:
            synced.add(name)
            counts[name] = counts.get(name, 0) + 1
    if what == "rename" and name == "checkpoint.h5":
        n_checkpoints += 1
        assert thread == "other", "a checkpoint was written by the thread that simulates"
        assert frames <= synced, f"checkpoint {n_checkpoints}: not on disk: {sorted(frames - synced)}"
        assert {"series.csv", "bodies.csv"} <= synced, f"checkpoint {n_checkpoints}: tables are not on disk"
        assert folder_synced, f"checkpoint {n_checkpoints}: the names of frames are not on disk"
        assert any(s.startswith("checkpoint.h5.") for s in synced), "the checkpoint is not on disk"
        synced = {s for s in synced if not s.startswith("checkpoint.h5.")}
        pending = True
assert not pending, "the name of the last checkpoint is not on disk"
assert frames and all(counts[f] == 1 for f in frames), "a frame was brought to disk more than once"
print(n_checkpoints, len(frames), sum(1 for l in open("spied") if l.startswith("rename") and l.endswith("run.pvd\n")))
PYTHON
}

spied --checkpoint 0
read -r n_checkpoints n_frames n_lists <<<"$(check)" || fail "with a checkpoint at every frame"
((n_checkpoints == 12 && n_frames == 11)) || fail "not 12 checkpoints and 11 frames: $n_checkpoints, $n_frames"
spied --set frames_per_second=2000
read -r n_checkpoints n_frames n_lists <<<"$(check)" || fail "with few checkpoints"
((n_frames == 401)) || fail "not 401 frames: $n_frames"
# run.pvd is not written for every frame, which would take ever longer.
((n_lists < 100)) || fail "run.pvd was written $n_lists times for $n_frames frames"
(($(grep -c '<DataSet' run/run.pvd) == 401)) || fail "run.pvd is not complete"
# While it simulates, this thread waits for no disk: only before the first frame and at the end.
python3 - <<'PYTHON' || fail "the thread that simulates waits for the disk"
import sys
lines = [l.split(" ", 2) for l in open("spied")]
frames = [k for k, l in enumerate(lines) if l[0] == "rename" and "particles_" in l[2]]
sys.exit(any(l[0] == "sync" and l[1] == "main" for l in lines[frames[0]:frames[-1]]))
PYTHON
finish
