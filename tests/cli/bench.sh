# Bench: every line is JSON with the promised keys, each key is documented, and mistakes are explained.
source "$(dirname "$0")/common.sh"
root=$here/../..
command -v python3 >/dev/null || exit 77

# ---- Mistakes cost no time and print no line ----

expect_mistake() { # TEXT arguments...
  local text=$1
  shift
  expect_exit 2 "$flotsam" bench "$@"
  expect_text err "$text"
  expect_text err "flotsam"
  expect_empty out
}

expect_mistake "did you mean '--particles'?" --particle 100k
expect_mistake "unexpected argument 'box'" box
expect_mistake "--only needs a value" --only
expect_mistake "there is no part 'prob', did you mean 'probe'?" --only prob
expect_mistake "there is no part ''" --only box,
expect_mistake "--particles needs numbers such as 100k,1m, not 'lots'" --particles lots
expect_mistake "not '1.5'" --particles 1.5
expect_mistake "not ''" --particles 100k,,1m
expect_mistake "not '-5k'" --particles -5k
expect_mistake "not 'nan'" --particles nan
expect_mistake "must lie between 1k and 100m, got 10" --particles 100k,10
expect_mistake "must lie between 1k and 100m, got 2000m" --particles 2000m
expect_mistake "--threads needs whole numbers such as 1,2, not 'x'" --threads 1,x
expect_mistake "--threads must lie between 1 and 1024, got 0" --threads 0
expect_mistake "--threads takes at most 16 numbers" --threads 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1

if ((${FLOTSAM_SLOW:-0})); then
  expect_exit 0 "$flotsam" bench --quick --threads 2 --particles 1k --only box,pool,surface,tower
  finish
fi

# ---- A short run of everything ----

expect_exit 0 "$flotsam" bench --quick --threads 1,2 --particles 8k --table
cp out lines
expect_text err "quick run: times are not meaningful"
expect_text err "reference, another run of the same machine type"

cat >check.py <<'PYTHON'
import json, math, sys

lines = [json.loads(text) for text in open("lines")]
always = ["case", "particles", "threads", "seconds_per_step"]
stage = "seconds seconds_best share_of_step bytes_per_particle flops_per_particle share_of_stream share_of_fma".split()
steps = """seconds_per_step_best boundary_particles neighbours padding particle_steps_per_second
  particle_steps_per_second_core neighbour_build_per_second_core searches_per_step iterations_per_step particle_iterations_per_second_core speedup bytes_per_particle force_pairs_per_second
  force_share_of_probe force_share_of_probe_best steps_per_simulated_second stages""".split()
keys = {
    "machine": "cpu cores simd probe_simd version compiler l3_bytes memory_bytes quick".split(),
    "stream": "bytes_per_second bytes_per_second_median array_bytes".split(),
    "fma": "flops_per_second flops_per_second_median".split(),
    "probe": """seconds_per_step_best neighbours particle_iterations_per_second
      particle_iterations_per_second_core pairs_per_second operator_bytes""".split(),
    "box": steps,
    "peer-dam": steps + ["reference"],
    "pool": steps,
    "coupling": """scene method rigid_particles boundary_particles simulated_from simulated_seconds
      seconds_per_simulated_second steps
      iterations_per_step particle_iterations_per_second_core particle_steps_per_second_core
      particles_at_ten_steps_per_second solve_share search_share response_share density_error_mean
      reference""".split(),
    "memory": "bytes peak_bytes bytes_per_particle peak_bytes_per_particle".split(),
    "sampling": "mesh task triangles spacing_in_mean_edges seconds seconds_best".split(),
    "surface": "triangles seconds seconds_best stages".split(),
    "joints": "shape joints rows factorise_seconds factorise_seconds_best seconds seconds_best".split(),
    "sheets": """vertices blocks structure_seconds factorise_seconds factorise_seconds_best seconds seconds_best
      single_seconds single_seconds_best""".split(),
    "cloth": "scene method triangles samples frames_per_second steps iterations_per_step contacts skin_share".split(),
    "target": "target unit measured at_least aim less_is_better met".split(),
}
reference = "program seconds_per_simulated_second note".split()
document = open(sys.argv[1]).read()
for name, own in keys.items():
    assert f"`{name}`" in document, f"{name} is not documented"
    for key in always + own + stage:
        assert f"`{key}`" in document, f"{key} is not documented"

may_be_zero = ("searches_per_step", "density_error_mean", "response_share", "rigid_particles", "simulated_from", "contacts", "samples")
order = [line["case"] for line in lines]
assert order[0] == "machine", order
assert set(order) == set(keys), order
for name in ("stream", "fma", "probe", "box", "peer-dam", "pool"):
    threads = [line["threads"] for line in lines if line["case"] == name]
    assert threads == [1, 2], (name, threads)

for line in lines:
    name = line["case"]
    assert list(line) == always + keys[name], (name, list(line))
    for key, value in line.items():
        if isinstance(value, float) or type(value) is int:
            assert math.isfinite(value) and (value > 0 or value == 0 and key in may_be_zero), (name, key, value)
    if name == "surface":
        assert list(line["stages"]) == "sort field extract polish".split(), line
        assert all(list(s) == ["seconds", "seconds_best"] for s in line["stages"].values()), line
        assert sum(s["seconds"] for s in line["stages"].values()) < 1.01 * line["seconds"], line
    elif "stages" in line:
        assert list(line["stages"]) == "sort neighbours density force integrate bodies response".split(), list(line["stages"])
        assert all(list(s) == stage for s in line["stages"].values())
        shares = sum(s["share_of_step"] for s in line["stages"].values())
        assert 0 < shares < 1.5, shares  # medians need not add up

machine = lines[0]
assert machine["quick"] is True and machine["cores"] >= 1 and machine["cpu"]
box = [line for line in lines if line["case"] == "box"]
assert [line["particles"] for line in box] == [8000, 8000]
assert all(20 < line["neighbours"] < 35 for line in box)
assert all(line["force_share_of_probe"] for line in box)
assert box[0]["speedup"] == 1
probe = [line for line in lines if line["case"] == "probe"][0]
assert probe["particles"] == 8000 and 20 < probe["neighbours"] < 35
assert probe["operator_bytes"] >= 16 * probe["neighbours"] * probe["particles"]
dam = [line for line in lines if line["case"] == "peer-dam"][0]
assert dam["particles"] == 100000 and dam["reference"]["note"] == "reference, another run of the same machine type"

# Every target of the parts that ran is named; a quick run measures all of them.
targets = {line["target"]: line for line in lines if line["case"] == "target"}
assert list(targets) == [
    "neighbour build", "wcsph whole step", "speed-up from 1 to 2 threads", "force sweep, share of the probe",
    "monolithic solver", "direct-forcing whole step",
    "direct-forcing response", "constraint solver", "constraint, 15 iterations", "cloth of 90,000 triangles, sampled",
    "the same, sampled again in a step", "surface", "memory", "samples of cloth, with the transfer of forces"], list(targets)
for name, line in targets.items():
    assert line["measured"] is not None and line["met"] in ("no", "yes", "aim"), line
response = targets["direct-forcing response"]
assert response["at_least"] == 0.01 and response["aim"] is None and response["less_is_better"], response

surface = [line for line in lines if line["case"] == "surface"]
assert len(surface) == 1 and surface[0]["threads"] == 2, surface
# So few particles have most of them at the surface, and each drop has its own.
assert abs(surface[0]["particles"] / 8000 - 1) < 0.05 and surface[0]["triangles"] > surface[0]["particles"], surface
per_million = surface[0]["seconds"] * 1e6 / surface[0]["particles"]
assert abs(targets["surface"]["measured"] / per_million - 1) < 1e-3, (targets["surface"], surface)

coupled = [(line["scene"], line["method"]) for line in lines if line["case"] == "coupling"]
assert coupled == [("peer-dam", "monolithic"), ("peer-dam-bodies", "monolithic"), ("peer-pillar", "monolithic"),
                   ("peer-dam-bodies", "direct-forcing"), ("peer-dam", "constraint"),
                   ("peer-pillar", "constraint")], coupled
assert all(line["iterations_per_step"] >= 1 for line in lines if line["case"] == "pool")
# Each measurement is of a method that it speaks of.
for line in lines:
    if line["case"] == "coupling":
        has_solver = line["method"] != "direct-forcing"
        assert (line["iterations_per_step"] is not None) == has_solver, line
        assert (line["particle_iterations_per_second_core"] is not None) == has_solver, line
        assert (line["response_share"] is None) == has_solver, line
        peer = line["reference"]
        assert (peer is not None) == (line["method"] == "monolithic" and line["scene"] != "peer-pillar"), line
        assert (line["particles_at_ten_steps_per_second"] is not None) == (line["method"] == "constraint"), line
        if peer:
            assert list(peer) == reference, list(peer)
for line in lines:
    if line["case"] == "coupling":
        counts = json.load(open(line["scene"]))
        assert counts["fluid_particles"] == line["particles"], line
        assert counts["boundary_particles"] == line["boundary_particles"], line
        assert counts["rigid_particles"] == line["rigid_particles"], line

# The case and the scene that other programs are compared with are the same.
scene = json.load(open("scene"))
assert scene["fluid_particles"] == dam["particles"], scene
assert scene["boundary_particles"] == dam["boundary_particles"], scene
assert abs(scene["time_step"] * dam["steps_per_simulated_second"] - 1) < 0.02, scene
PYTHON

for scene in peer-dam peer-dam-bodies peer-pillar; do
  expect_exit 0 "$flotsam" check "$root/scenes/bench/$scene.json" --json
  cp out "$scene"
done
cp peer-dam scene
expect_exit 0 python3 check.py "$root/docs/performance.md"

# ---- The tower, only if asked for; a small one is not that of the paper ----

expect_exit 0 "$flotsam" bench --quick --only tower --threads 2 --table
cp out lines
expect_text err "size draft"
expect_text err "monolithic, tower of the paper (at least 8, aim 15): not measured"
cat >tower.py <<'PYTHON'
import json, sys

machine, tower, target = [json.loads(text) for text in open("lines")]
keys = """case particles threads seconds_per_step seconds_per_step_best size rigid_particles boundary_particles
  iterations_per_step core_seconds_per_step times_better""".split()
document = open(sys.argv[1]).read()
assert list(tower) == keys and tower["case"] == "tower", tower
assert all(f"`{key}`" in document for key in keys + ["tower"]), "not documented"
assert tower["iterations_per_step"] == 10 and tower["times_better"] is None, tower
assert abs(tower["core_seconds_per_step"] / (2 * tower["seconds_per_step"]) - 1) < 1e-4, tower
assert target["target"] == "monolithic, tower of the paper", target
assert (target["measured"], target["met"], target["at_least"], target["aim"]) == (None, None, 8, 15), target
scene = json.load(open("scene"))
assert scene["fluid_particles"] == tower["particles"], scene
assert scene["rigid_particles"] == tower["rigid_particles"], scene
PYTHON
expect_exit 0 "$flotsam" check tower --size draft --json
cp out scene
expect_exit 0 python3 tower.py "$root/docs/performance.md"

# ---- Parts: shares of what was not measured are unknown, not wrong ----

expect_exit 0 "$flotsam" bench --quick --only box --particles 1k --threads 2 --json
expect_empty err
tail -n +2 out | head -1 >line
expect_json line "d['case'], d['particles'], d['threads'], d['speedup'], d['force_share_of_probe']" \
  "('box', 1000, 2, None, None)"

# Lost output is no success.
"$flotsam" bench --quick --only fma --threads 1 >/dev/full 2>err
(($? == 1)) || fail "writing to a full device went unnoticed"
expect_text err "cannot write to standard output"
finish
