#!/usr/bin/env bash
# What action.yml beside it runs.
set -euo pipefail
[[ ! -e $STAND_IN/no-room || $NAME != *$(<"$STAND_IN/no-room")* ]] || { echo "Artifact storage quota has been hit. Unable to upload any new artifacts."; exit 1; }
if [[ -z $(find "$FROM" -type f -not -path '*/.*' 2>/dev/null | head -n 1) ]]; then
  echo "no files were found in \"$FROM\""
  [[ $MISSING != error ]] || exit 1
  exit 0
fi
to=$STAND_IN/artifacts/$NAME
[[ $OVERWRITE != true ]] || rm -rf "$to"
if [[ -e $to ]]; then
  echo "409 Conflict: an artifact with this name already exists on the workflow run: \"$NAME\""
  exit 1
fi
mkdir -p "$to"
if [[ -d $FROM ]]; then
  (cd "$FROM" && find . -type f -not -path '*/.*' -exec cp --parents -t "$to" {} +)
else
  cp "$FROM" "$to"
fi
# The original stores no modes: what comes back can be read by all and run by nobody.
find "$to" -type f -exec chmod 644 {} +
