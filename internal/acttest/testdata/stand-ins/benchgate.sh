#!/usr/bin/env bash
# Is released to the lab as benchgate: it notes what the program is given and what it says, takes away what act gives a step
# and GitHub's runner does not (INPUT_*), and puts a pipe where act has a terminal.
set -uo pipefail
real=@PROGRAM@
[[ ${1:-} == action ]] || exec "$real" "$@"

note=$STAND_IN/$GITHUB_JOB-$BENCHGATE_MODE
# The jobs of a matrix have one name, and each the config of its own runner.
[[ $BENCHGATE_CONFIG != */* ]] || note+=-$(basename "$BENCHGATE_CONFIG" .yaml)
env -0 >"$note.env"
without=()
while IFS= read -r -d '' variable; do
  [[ $variable != INPUT_* ]] || without+=(-u "${variable%%=*}")
done <"$note.env"

if [[ $BENCHGATE_MODE == run ]]; then
  # The process stays the one that the runner signals.
  echo $$ >"$note.pid"
  exec env "${without[@]}" "$real" "$@" > >(tee "$note.log") 2>&1
fi
env "${without[@]}" "$real" "$@" 2>&1 | tee "$note.log"
code=${PIPESTATUS[0]}
# act stops reading the terminal of a step that fails as soon as it ends.
sleep 0.2
exit "$code"
