# The manual page: names every command and option, and no formatter complains.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" help --man
expect_empty err
cp out flotsam.1
for command in $("$flotsam" completion --list COMMAND); do
  expect_text flotsam.1 ".SS \"flotsam $command"
  "$flotsam" help "$command" | grep -o '^  --[a-z-]*' | sed 's/-/\\-/g' >options
  while read -r option; do expect_text flotsam.1 "\\fB$option\\fR"; done <options
done
expect_text flotsam.1 ".SH EXIT STATUS"
expect_text flotsam.1 "$("$flotsam" version)"
grep -n '^\.[^A-Z\\]' flotsam.1 && fail "a line that is text begins with a dot"

n_tools=0
if command -v groff >/dev/null; then
  n_tools=$((n_tools + 1))
  expect_exit 0 groff -ww -man -Tutf8 -z flotsam.1
  expect_empty err
  groff -man -Tascii -P-c -P-b -P-u flotsam.1 >text
  expect_text text "flotsam run my/scene.json --set spacing=0.01"
  expect_text text "--columns NAMES"
fi
if command -v mandoc >/dev/null; then
  n_tools=$((n_tools + 1))
  # An empty date is meant: the page has none but that of its version.
  mandoc -T lint -W warning flotsam.1 | grep -v 'missing date' >lint
  expect_empty lint
fi
if command -v man >/dev/null && man --warnings --version >/dev/null 2>&1; then
  n_tools=$((n_tools + 1))
  LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z flotsam.1 >/dev/null 2>err
  expect_empty err
fi
if ((n_tools == 0 && n_failed == 0)); then
  echo "skipped: there is neither groff nor mandoc nor man"
  exit 77
fi
finish
