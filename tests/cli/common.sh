# Shared by the tests of the program. Each script is called with the program's path, works in an empty folder of its own
# and ends with `finish`.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
flotsam=$(cd "$(dirname "$1")" && pwd -P)/$(basename "$1")
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$here/tiny.json" .
n_failed=0

fail() {
  printf 'FAILED: %s\n' "$*"
  n_failed=$((n_failed + 1))
}

# expect_exit CODE command...: leaves the output in the files out and err beside the working folder's others.
expect_exit() {
  local expected=$1 got
  shift
  "$@" >out 2>err
  got=$?
  if ((got != expected)); then
    fail "exit code $got instead of $expected: $*"
    sed 's/^/    /' out err
  fi
}

expect_text() { # FILE TEXT
  grep -qF -- "$2" "$1" || { fail "no '$2' in $1:"; sed 's/^/    /' "$1"; }
}

expect_empty() { [[ ! -s $1 ]] || { fail "$1 is not empty:"; sed 's/^/    /' "$1"; }; }
expect_file() { [[ -s $1 ]] || fail "no file $1"; }
expect_no_file() { [[ ! -e $1 ]] || fail "unwanted file $1"; }

# python_with MODULE: a Python that has it; the one of the system need not be the first in the path.
python_with() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c "import $1" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# json FILE EXPRESSION: the value of a Python expression over the document d.
json() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

expect_json() { # FILE EXPRESSION VALUE
  local got
  got=$(json "$1" "$2" 2>&1)
  [[ $got == "$3" ]] || fail "$1: $2 is '$got' instead of '$3'"
}

finish() {
  ((n_failed == 0)) && exit 0
  printf '%d checks failed\n' "$n_failed"
  exit 1
}
