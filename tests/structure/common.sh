# Shared by the tests of the source tree. Each script is called with the root of the sources. It defines `check TREE`,
# which prints each place that breaks one rule and fails if there is any. It first shows, on small trees of its own, that
# the check can fail, and then ends with `finish`, which checks the real tree.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
n_failed=0

fail() {
  printf 'FAILED: %s\n' "$*"
  n_failed=$((n_failed + 1))
}

# new_tree: removes what the last self-test wrote.
new_tree() { rm -rf "$work/tree" && mkdir -p "$work/tree"; }

# write FILE: standard input becomes that file of the small tree.
write() {
  mkdir -p "$(dirname "$work/tree/$1")"
  cat >"$work/tree/$1"
}

# expect_pass: the check accepts the small tree.
expect_pass() {
  check "$work/tree" >"$work/out" 2>&1 || { fail "self-test: a tree without faults is refused:"; sed 's/^/    /' "$work/out"; }
}

# expect_fault TEXT...: the check refuses the small tree, and its output contains every TEXT.
expect_fault() {
  local text
  if check "$work/tree" >"$work/out" 2>&1; then
    fail "self-test: a tree with the fault '$1' is accepted"
  fi
  for text in "$@"; do
    grep -qF -- "$text" "$work/out" || { fail "self-test: no '$text' in:"; sed 's/^/    /' "$work/out"; }
  done
}

finish() {
  check "$root" || n_failed=$((n_failed + 1))
  ((n_failed == 0))
  exit
}
