# completion: what bash is offered after each beginning; the zsh script is at least a script.
source "$(dirname "$0")/common.sh"

expect_exit 0 "$flotsam" completion bash
expect_empty err
cp out flotsam.bash
# shellcheck disable=SC1091
source ./flotsam.bash || fail "bash cannot read its script"
complete -p flotsam >/dev/null || fail "flotsam has no completion"

# offers WORD...: what follows the words; the last one, which may be empty, is being typed.
offers() {
  COMP_WORDS=("$flotsam" "$@")
  COMP_CWORD=$#
  _flotsam
  printf '%s\n' "${COMPREPLY[@]}"
}
expect_offer() { # WORDS OFFER...: a blank at the end of the words begins the next one; all offers must be there
  local words=() offer
  read -r -a words <<<"$1"
  [[ $1 == *' ' ]] && words+=("")
  shift
  offers "${words[@]}" >offered
  for offer; do grep -qxF -- "$offer" offered || fail "no '$offer' behind '${words[*]}': $(tr '\n' ' ' <offered)"; done
}
expect_only() { # WORDS OFFER...: these and no others
  expect_offer "$@"
  (($(grep -c . offered) == $# - 1)) || fail "more than asked for behind '$1': $(tr '\n' ' ' <offered)"
}

mkdir -p "runs/a run"
touch runs/notes.txt scene.json
mapfile -t commands < <("$flotsam" completion --list COMMAND)
expect_only " " "${commands[@]}"
expect_offer "r" run render
expect_only "comp" completion compare
expect_offer "gallery --only dam-b" dam-break dam-break-2d
expect_only "gallery --look " water particles
expect_offer "gallery --scenes ru" runs
expect_offer "compare dam-b" dam-break
expect_offer "compare dam-break --methods " wcsph monolithic
for command in "${commands[@]}"; do
  mapfile -t options < <("$flotsam" help "$command" | grep -o '^  --[a-z-]*' | tr -d ' ')
  expect_only "$command --" "${options[@]}"
done
expect_offer "run dam-b" dam-break dam-break-2d
expect_offer "run sc" scene.json
expect_only "run --me" --method
expect_offer "run --method " wcsph
expect_offer "run --method = w" wcsph
expect_offer "run --threads 2 --out x dam-b" dam-break
expect_only "run --out runs/" "runs/a run"
expect_only "run --threads "
expect_only "run dam-break dam-b"
expect_only "convert --to " csv vtk ply glb
expect_only "convert runs --frame " last all
expect_offer "convert ru" runs
expect_offer "info " methods method scenes shapes shape schema runs
expect_only "info me" methods method
expect_offer "info method w" wcsph
expect_only "info --json shape to" torus
expect_only "info shapes "
expect_only "help comp" completion compare
expect_only "completion " bash zsh
expect_only "nonsense "

for kind in SCENE METHOD SHAPE COMMAND; do
  expect_exit 0 "$flotsam" completion --list $kind
  expect_file out
done
expect_exit 2 "$flotsam" completion --list KIND
expect_text err "SCENE, METHOD, SHAPE or COMMAND"
expect_exit 2 "$flotsam" completion
expect_text err "bash or zsh"
expect_exit 2 "$flotsam" completion fish
expect_text err "not 'fish'"

expect_exit 0 "$flotsam" completion zsh
[[ $(head -1 out) == "#compdef flotsam" ]] || fail "zsh would not find its script"
if command -v zsh >/dev/null; then
  cp out _flotsam
  expect_exit 0 zsh -n _flotsam
fi
finish
