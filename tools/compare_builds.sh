#!/usr/bin/env bash
# Compares two builds: runs every scene for about 100 steps with each, on 1 and 2 threads, and compares the hashes of
# the states that they reach. Exits with 1 if any differ.
#
#   tools/compare_builds.sh OLD NEW [SCENE...]     OLD and NEW are programs: .../build/bin/flotsam
#   steps=20 tools/compare_builds.sh OLD NEW       fewer steps
#
# Where states differ, it also says by how much the measurements of the last frame do: the largest difference of a number,
# as a share of the largest of its kind (of a vector: of its components). Forces scatter from step to step and are left
# out, as are times, iterations and residuals.
#
# The scenes come from the source tree of OLD, so that a change of a scene file is not taken for one of the program.
# Results of OLD are kept in $cache (default: build-compare) and used again.
set -uo pipefail

old=$1 new=$2
shift 2
steps=${steps:-100}
cache=${cache:-build-compare}
scenes_of_old=$(cd "$(dirname "$old")/../../scenes" && pwd -P)
mkdir -p "$cache"
(($#)) || set -- $(cd "$scenes_of_old" && ls *.json bench/*.json)

# The time after about so many steps: what `check` says of the first step, times their number.
end_of() {
  "$old" check "$1" --json 2>/dev/null | python3 -c '
import json, sys
about = json.load(sys.stdin)
print(min(about["duration"], float(sys.argv[1]) * about["time_step"]))' "$steps"
}

# result PROGRAM SCENE END THREADS: number of steps, hash of the state, and the measurements of the last frame.
result() {
  local folder=$cache/run.$$
  "$1" run "$2" --until "$3" --threads "$4" --out "$folder" --force --no-picture --quiet >"$cache/log.$$" 2>&1
  python3 -c '
import json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
last = summary.get("measurements", summary.get("figures", {}))
print(summary["steps"], summary["state_hash"], json.dumps(last, sort_keys=True))' "$folder" 2>>"$cache/log.$$" ||
    { echo "failed: $(tail -n 1 "$cache/log.$$")"; }
  rm -rf "$folder"
}

# largest OLD_MEASUREMENTS NEW_MEASUREMENTS
largest() {
  python3 -c '
import json, re, sys
old, new = json.loads(sys.argv[1]), json.loads(sys.argv[2])
skip = re.compile(r"^(wall_seconds|iterations|residual|dt|contacts)$|\.[ft][xyz]$")
kind = lambda name: re.sub(r"[._]?[xyzw]$", "", name)
names = [n for n in old if isinstance(old[n], (int, float)) and isinstance(new.get(n), (int, float)) and not skip.search(n)]
size = {}
for n in names: size[kind(n)] = max(size.get(kind(n), 0), abs(old[n]))
share = lambda n: abs(old[n] - new[n]) / max(size[kind(n)], 1e-9)
worst = max(names, key=share, default=None)
print("%.1e (%s)" % (share(worst), worst) if worst else "no measurements")' "$1" "$2"
}

differ=0
for scene in "$@"; do
  path=$scenes_of_old/${scene%.json}.json
  name=$(basename "$path" .json)
  end=$(end_of "$path")
  for threads in 1 2; do
    kept=$cache/$name.$steps.$threads
    [[ -s $kept ]] || result "$old" "$path" "$end" "$threads" >"$kept"
    [[ $new == - ]] && continue
    result "$new" "$path" "$end" "$threads" >"$cache/new.$name.$steps.$threads"
    read -r old_steps old_hash old_last <"$kept"
    read -r new_steps new_hash new_last <"$cache/new.$name.$steps.$threads"
    if [[ $old_steps == "$new_steps" && $old_hash == "$new_hash" ]]; then
      echo "same      $name, $threads threads: $old_steps steps, $old_hash"
    else
      echo "DIFFERENT $name, $threads threads: $old_steps and $new_steps steps, $old_hash and $new_hash;" \
        "largest difference $(largest "$old_last" "$new_last")"
      differ=1
    fi
  done
done
exit $differ
