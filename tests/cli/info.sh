# info and check: the library's tables and what a scene means.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" info
expect_text out "wcsph"
expect_text out "cubic-spline"
expect_exit 0 "$flotsam" info --json
expect_json out "d['methods'][0]['name'] in [m['name'] for m in d['methods']]" True
expect_json out "'default' in d['scenes']" True
expect_exit 0 "$flotsam" info methods
expect_text out "wcsph"
expect_exit 0 "$flotsam" info method wcsph
expect_text out "default"
expect_exit 0 "$flotsam" info method wcsph --json
expect_json out "d['name']" wcsph
expect_json out "all(p['low'] <= p['default'] <= p['high'] for p in d['parameters'])" True
expect_exit 0 "$flotsam" info kernels
expect_text out "wendland-c2"
expect_exit 0 "$flotsam" info scenes
expect_text out "dam-break"
expect_exit 2 "$flotsam" info method wcspj
expect_text err "did you mean 'wcsph'?"
expect_exit 2 "$flotsam" info method
expect_text err "which method?"
expect_exit 2 "$flotsam" info kernel
expect_text err "did you mean 'kernels'?"

expect_exit 0 "$flotsam" check tiny.json
expect_text out "A puddle for tests"
expect_text out "64 fluid"
expect_text out "limited by"
expect_empty err
expect_exit 0 "$flotsam" check tiny.json --json
expect_json out "d['fluid_particles']" 64
expect_json out "d['frames']" 5
expect_json out "d['memory_bytes'] > 0 and d['steps'] * d['time_step'] >= d['duration']" True
expect_exit 0 "$flotsam" check tiny.json --set spacing=0.1 --json
expect_json out "d['fluid_particles']" 16

sed 's/"fluid_particles"/"fluid_partikles"/' tiny.json >misspelt.json
expect_exit 2 "$flotsam" check misspelt.json
expect_text err "/expect/0/figure"
expect_text err "did you mean 'fluid_particles'?"
expect_no_file runs
finish
