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
expect_exit 0 "$flotsam" info methods wcsph
expect_text out "default"
if ! "$flotsam" info methods | grep -q "^  monolithic "; then
  expect_exit 2 "$flotsam" info method monolithic
  expect_text err "'monolithic' is planned but not available yet"
fi
expect_exit 2 "$flotsam" info kernels wcsph
expect_text err "unexpected argument 'wcsph'"
expect_exit 2 "$flotsam" info method wcspj
expect_text err "did you mean 'wcsph'?"
expect_exit 2 "$flotsam" info method
expect_text err "the name of a method is missing"
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


# Runs that cannot be meant are noted, those that make no sense refused.
expect_exit 0 "$flotsam" check tiny.json --set time_step=1e-12
expect_text out "a time step of 1e-12 s needs 1e+11 steps, about "
expect_text out "set time_step to 0: the method then uses"
expect_exit 0 "$flotsam" check tiny.json --set time_step=1e-12 --json
expect_json out "d['steps'], len(d['notes'])" "(100000000000, 1)"
expect_exit 2 "$flotsam" check tiny.json --set time_step=1e-300
expect_text err "/time_step: must be 0 or at least 2.22e-17 s"
expect_exit 0 "$flotsam" check tiny.json --frames 2 --json
expect_json out "d['frames'], d['duration'] < 0.1, d['notes']" "(2, True, [])"
expect_exit 0 "$flotsam" check tiny.json --until 0.02 --json
expect_json out "d['frames'], d['duration']" "(1, 0.02)"
expect_exit 0 "$flotsam" check tiny.json --frames 1000000 --set frames_per_second=1
expect_text out "steps, about "
expect_exit 2 "$flotsam" check tiny.json --frames 1e9
expect_text err "--frames must lie between 0 and 1e+06, got 1e9"
expect_exit 2 "$flotsam" check tiny.json --frames 1 --until 1
expect_text err "exclude each other"
expect_exit 0 "$flotsam" check tiny.json --threads 1000
(($(grep -c "1000 threads share the" err) == 1)) || fail "too many threads must be mentioned once"
expect_exit 0 "$flotsam" check tiny.json --threads 1
expect_empty err

for word in fluid_partikles:fluid_particles max_sped.last:max_speed.last max_speed.mx:max_speed.max; do
  expect_exit 2 "$flotsam" check tiny.json --set "expect=[{\"measurement\":\"${word%:*}\",\"max\":1}]"
  expect_text err "no measurement '${word%:*}', did you mean '${word#*:}'?"
done
expect_exit 2 "$flotsam" check tiny.json --set 'expect=[{"measurement":"zzzzz","max":1}]'
expect_text err "use the name of a probe or a column of series.csv"

sed 's/"fluid_particles"/"fluid_partikles"/' tiny.json >misspelt.json
expect_exit 2 "$flotsam" check misspelt.json
expect_text err "/expect/0: no measurement"
expect_text err "did you mean 'fluid_particles'?"
expect_no_file runs
finish
