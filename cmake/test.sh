#!/usr/bin/env bash
# Builds and tests everything; the last line counts: 'N passed, N failed, N skipped'.
#
#   ./test          release build with all tests, format, clang build, sanitizers
#   ./test cli      only tests whose name matches, in the release build and under the sanitizers
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
[[ -f $root/CMakeLists.txt ]] || root=${root%/*}
source "$root/cmake/setup.sh"
filter=${1:-}
passed=0 failed=0 skipped=0

# check NAME command...: one test that is a command.
check() {
  local name=$1
  shift
  if "$@"; then
    say "passed: $name"
    passed=$((passed + 1))
  else
    say "FAILED: $name"
    failed=$((failed + 1))
  fi
}

# Counts single cmocka tests where a program reports them, and one test per program or script otherwise. Reads ctest's
# own output for how each ended and its log for what each printed.
count_tests() {
  awk '
    FNR == NR {
      if (match($0, /Test +#[0-9]+: [^ ]+/)) {
        split(substr($0, RSTART, RLENGTH), words, ": ")
        state[words[2]] = /\*\*\*Skipped/ ? "skipped" : (/ Passed / ? "passed" : "failed")
      }
      next
    }
    /^[0-9]+\/[0-9]+ Test: / { name = $3; run = ok = skip = is_over = 0 }
    /\[ RUN      \]/ { run++ }
    /\[       OK \]/ { ok++ }
    /\[==========\] .* run\./ { is_over = 1 }
    /\[  SKIPPED \]/ && !is_over { skip++ }
    / time elapsed: / {
      bad = run - ok - skip
      if (state[name] == "skipped") s++
      else if (state[name] == "passed") { p += run ? ok : 1; s += skip }
      else { p += ok; s += skip; f += bad > 0 ? bad : 1 }
    }
    END { print p + 0, f + 0, s + 0 }' "$1" "$2"
}

# run_tests FOLDER: runs the tests of a build folder and adds to the counts.
run_tests() {
  local folder=$1 counts
  ctest --test-dir "$folder" -j "$(nproc)" --output-on-failure --no-tests=ignore ${filter:+-R "$filter"} |
    tee "$folder/ctest.log"
  read -r -a counts < <(count_tests "$folder/ctest.log" "$folder/Testing/Temporary/LastTest.log")
  passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
}

# Names the files that clang-format would change.
check_format() {
  local files
  files=$(cd "$root" && find include src app bench test tests -name '*.[ch]' -print0 2>/dev/null |
    xargs -0 clang-format --dry-run -Werror 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: error.*/\1/p' | sort -u)
  [[ -z $files ]] && return
  say "not formatted by clang-format:"
  say "$files"
  return 1
}

install_packages "${test_packages[@]}"

check "build: release" build "$root/build" -DFLOTSAM_TESTS=ON
((failed)) || run_tests "$root/build"

if [[ -z $filter ]]; then
  check "format" check_format
  check "build: clang without warnings" build "$root/build-clang" -DCMAKE_C_COMPILER=clang
fi

# Debug, so that costly invariants are checked too; optimised a little, so that this takes minutes, not hours.
before=$failed
check "build: address and undefined-behaviour sanitizers" build "$root/build-asan" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_C_FLAGS=-O1 -DFLOTSAM_SANITIZE=address,undefined "-DFLOTSAM_TEST_LABELS=unit;equiv;input;cli"
((failed > before)) || run_tests "$root/build-asan"

printf '%d passed, %d failed' "$passed" "$failed"
((skipped)) && printf ', %d skipped' "$skipped"
printf '\n'
((failed == 0))
