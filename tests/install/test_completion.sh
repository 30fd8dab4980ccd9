#!/usr/bin/env bash
# The completion scripts, in the shells that are here: verbs, options, keys of --set.
set -eu
rm -rf "$WORK" && mkdir -p "$WORK" && cd "$WORK"
fail() { echo "FAIL: $*"; exit 1; }
for shell in bash zsh fish; do
  "$MCPILCO" help completion $shell > $shell.txt || fail "no script for $shell"
done
! "$MCPILCO" help completion tcsh 2> wrong.txt || fail "tcsh is taken for a shell we know"
grep -q 'expected bash, zsh or fish' wrong.txt || fail "the message: $(cat wrong.txt)"

# every option that a verb's help lists is in every script
for verb in $("$MCPILCO" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p'); do
  for option in $("$MCPILCO" $verb --help | sed -nE 's/^  (-[a-z], )?(--[a-z-]+).*/\2/p'); do
    grep -qE "^    $verb\) words=\"[^\"]*$option[ \"]" bash.txt || fail "bash: $verb $option is missing"
    awk -v verb="  $verb)" '$0 == verb { on = 1 } on { print } on && /;;/ { exit }' zsh.txt |
      grep -q -e "$option" ||
      fail "zsh: $verb $option is missing"
    grep -q "from $verb' -l ${option#--}\b" fish.txt || fail "fish: $verb $option is missing"
  done
done
echo "ok   all options of all verbs"

. ./bash.txt
complete_words() { # words of a command line, the last one to be completed
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _mcpilco 2> /dev/null || true
  echo "${COMPREPLY[*]}"
}
[ "$(complete_words mcpilco ev)" = evaluate ] || fail "bash: verbs: $(complete_words mcpilco ev)"
[ "$(complete_words mcpilco learn --tri)" = --trials ] || fail "bash: options"
[ "$(complete_words mcpilco learn --set optimise.part)" = optimise.particles= ] || fail "bash: keys"
[ "$(complete_words mcpilco bench ker)" = kernels ] || fail "bash: bench"
mkdir robots && touch robot.yaml
[ "$(complete_words mcpilco learn robot.)" = robot.yaml ] || fail "bash: files"
[ "$(complete_words mcpilco learn t.yaml --out robot)" = robots ] || fail "bash: folders"
echo "ok   bash completes verbs, options, keys, files and folders"

if command -v fish > /dev/null; then
  lines() {
    HOME=$WORK fish --no-config -c "source fish.txt; complete -C '$*'" | cut -f 1 | sort | tr '\n' ' '
  }
  [ "$(lines mcpilco ev)" = "evaluate " ] || fail "fish: verbs: $(lines mcpilco ev)"
  [ "$(lines mcpilco learn --tri)" = "--trials " ] || fail "fish: options"
  [ "$(lines mcpilco learn --set optimise.part)" = "optimise.particles= " ] || fail "fish: keys"
  [ "$(lines mcpilco learn robot.y)" = "robot.yaml " ] || fail "fish: files: $(lines mcpilco learn robot.y)"
  echo "ok   fish completes verbs, options, keys and files"
fi
if command -v zsh > /dev/null; then
  zsh -n zsh.txt || fail "zsh: syntax"
  echo "ok   zsh reads its script"
fi
