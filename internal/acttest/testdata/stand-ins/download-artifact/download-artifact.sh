#!/usr/bin/env bash
# What action.yml beside it runs.
set -euo pipefail
mkdir -p "$STAND_IN/artifacts"
if [[ -n $NAME ]]; then
  [[ -d $STAND_IN/artifacts/$NAME ]] || { echo "Artifact not found for name: \"$NAME\""; exit 1; }
  mkdir -p "$TO"
  cp -r "$STAND_IN/artifacts/$NAME/." "$TO"
  exit
fi
# Versions of the original differ in where the only match of a pattern goes unless all are merged.
[[ $MERGE == true ]] || { echo "say merge-multiple"; exit 1; }
for folder in "$STAND_IN/artifacts/"*; do
  # shellcheck disable=SC2053 # the right side is a pattern
  [[ -d $folder && ${folder##*/} == ${PATTERN:-*} ]] || continue
  mkdir -p "$TO"
  cp -r "$folder/." "$TO"
done
