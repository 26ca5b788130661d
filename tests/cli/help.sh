# Help and mistakes on the command line.
source "$(dirname "$0")/common.sh"

for command in run resume check info render plot convert surface gallery compare bench completion version help; do
  expect_exit 0 "$flotsam" "$command" --help
  expect_text out "usage: flotsam $command"
  expect_text out "examples:"
  expect_empty err
  expect_exit 0 "$flotsam" help "$command"
  expect_text out "usage: flotsam $command"
done

for arguments in help --help -h; do
  expect_exit 0 "$flotsam" $arguments
  expect_text out "usage: flotsam COMMAND"
done

expect_exit 2 "$flotsam"
expect_text err "usage: flotsam COMMAND"
expect_empty out

# Everything the overview lists has help of its own, and nothing else has.
"$flotsam" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -vx flotsam | sort -u >listed
"$flotsam" completion --list COMMAND | sort >known
cmp -s listed known || fail "the overview lists other commands: $(diff listed known)"
expect_exit 0 "$flotsam" help --man
expect_text out ".TH FLOTSAM 1"
expect_exit 2 "$flotsam" help run check
expect_text err "unexpected argument 'check'"
expect_exit 2 "$flotsam" help --mna
expect_text err "did you mean '--man'?"

expect_exit 2 "$flotsam" rnu
expect_text err "unknown command 'rnu', did you mean 'run'?"
expect_exit 2 "$flotsam" help chek
expect_text err "did you mean 'check'?"

expect_exit 2 "$flotsam" run tiny.json --thread 2
expect_text err "unknown option '--thread', did you mean '--threads'?"
expect_exit 2 "$flotsam" run tiny.json --threads many
expect_text err "--threads needs a number, not 'many'"
expect_exit 2 "$flotsam" run tiny.json --threads 1.5
expect_text err "whole number"
expect_exit 2 "$flotsam" run tiny.json --threads 0
expect_text err "--threads must lie between 1 and 1024"
expect_exit 2 "$flotsam" run tiny.json --threads
expect_text err "--threads needs a value"
expect_exit 2 "$flotsam" run tiny.json --quiet=yes
expect_text err "--quiet takes no value"
expect_exit 2 "$flotsam" run tiny.json another.json
expect_text err "unexpected argument 'another.json'"
expect_exit 2 "$flotsam" run
expect_text err "missing argument: SCENE"
expect_exit 2 "$flotsam" run tiny.json --until 1 --frames 1
expect_text err "exclude each other"
expect_exit 2 "$flotsam" render runs/x --colour-by taste
expect_text err "cannot colour by 'taste'"
expect_no_file runs

expect_exit 0 "$flotsam" version
expect_text out "flotsam "
expect_exit 0 "$flotsam" --version
expect_text out "flotsam "

# Lost output is no success.
"$flotsam" info >/dev/full 2>err
(($? == 1)) || fail "writing to a full device went unnoticed"
expect_text err "cannot write to standard output"
# But a reader who has seen enough is none of our business.
(
  trap '' PIPE
  "$flotsam" info scene-keys 2>err || echo "exit code $?" >>err
) | head -1 >out
expect_empty err
finish
