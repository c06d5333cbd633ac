#!/usr/bin/env bash
# What action.yml beside it runs.
set -euo pipefail
mkdir -p "$FOLDER"
cd "$FOLDER"
git init -q .
git remote add origin "https://github.com/$GITHUB_REPOSITORY"
# As the original: the one commit, or every branch with it.
depth=(--depth "$DEPTH")
if [[ $DEPTH == 0 ]]; then
  git fetch -q --tags origin '+refs/heads/*:refs/remotes/origin/*'
  depth=()
fi
git fetch -q "${depth[@]}" origin "$REF"
git checkout -q --detach FETCH_HEAD
if [[ $PERSIST != false ]]; then
  git config http.extraheader "AUTHORIZATION: basic $TOKEN"
fi
echo "commit=$(git rev-parse HEAD)" >>"$GITHUB_OUTPUT"
