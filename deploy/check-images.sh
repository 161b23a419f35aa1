#!/bin/sh
# Builds the contents of the images without a container engine: runs the commands of
# deploy/Dockerfile, stage by stage, in FOLDER (which is emptied). Then each program must start
# there, without this checkout, up to the point where it reports missing settings, and a record must
# pass through all of them (smoke-images.mjs; needs `npm run build`). Prints what is in each image;
# writes the bills of materials.
# Usage: sh deploy/check-images.sh FOLDER
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?the folder to build in}
case $(realpath -m "$folder")/ in
  "$repository"/*) echo "$folder is in the checkout, whose packages would stand in for missing ones" && exit 1 ;;
esac
rm -rf "$folder" && mkdir -p "$folder/context" "$folder/manifests" "$folder/compiled"
folder=$(cd "$folder" && pwd)
export CI=true

cd "$repository" # what .dockerignore lets through
# shellcheck disable=SC2046
tar -cf - --exclude=node_modules --exclude=dist --exclude=test --exclude='*.tsbuildinfo' \
  $(sed -n 's/^!//p' .dockerignore) | tar -xf - -C "$folder/context"

cd "$folder/context" # manifests, workspace
cp --parents -t "$folder/manifests" package.json pnpm-lock.yaml pnpm-workspace.yaml \
  gateway/package.json worker/package.json console/package.json packages/*/package.json clients/*/package.json \
  tools/*/package.json
package=$(node "$repository/tools/scripts/pnpm.mjs" "$folder")
pnpm="npx --yes --prefer-offline --package=$package pnpm"

cp -r "$folder/manifests" "$folder/build" && cd "$folder/build" # build
$pnpm install --frozen-lockfile --filter intake \
  --filter-prod '@intake/gateway...' --filter-prod '@intake/worker...' --filter-prod '@intake/console...' \
  --filter-prod '@intake/cli...'
cp -rT "$folder/context" .
node_modules/.bin/tsc -b gateway worker console tools/cli
find gateway/dist worker/dist console/dist packages/*/dist clients/javascript/dist clients/sandbox/dist tools/cli/dist -name '*.js' \
  -exec cp --parents -t "$folder/compiled" {} +
cp --parents -t "$folder/compiled" packages/schema/migrations/*.sql console/assets/* docs/*.md docs/*/*.md packages/*/src/*.mjs gateway/docs.html

for image in gateway worker console cli; do # gateway-modules … cli
  cp -r "$folder/manifests" "$folder/$image" && cd "$folder/$image"
  $pnpm install --frozen-lockfile --prod --filter-prod "@intake/$image..."
  find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.?ts' \) -delete
  cp -rT "$folder/compiled" . && cp "$folder/context/deploy/health-check.mjs" .
done

echo
failed=0
expect() { # image, expected text, program and arguments
  image=$1 text=$2 && shift 2
  foreign='@chdb|chdb|typescript|tap'
  # The console decodes pictures with sharp, and confines the decoder with ffi-rs.
  [ "$image" = console ] || foreign="$foreign|ffi-rs|sharp|d3-scale"
  if ls "$folder/$image/node_modules/.pnpm" | grep -E "^($foreign)[+@]"; then
    echo "$image: contains a package that it must not contain" && failed=1
  fi
  if cd "$folder/$image" && env -i PATH="$PATH" node "$@" 2>&1 | grep -q "$text"; then
    modules=$(find node_modules/.pnpm -maxdepth 1 -name '*@*' | wc -l)
    echo "$image: starts; $(du -sh --apparent-size . | cut -f1)B with $modules packages, the largest:"
    du -sk --apparent-size node_modules/.pnpm/*@* | sort -rn | head -5 | sed 's#node_modules/.pnpm/#  #'
  else
    echo "$image: does not start" && failed=1
  fi
}
expect gateway 'REDIS_URL, S3_ENDPOINT must be set' gateway/dist/main.js
expect worker 'REDIS_URL, CLICKHOUSE_URL must be set' worker/dist/main.js
expect console 'REDIS_URL, CLICKHOUSE_URL must be set' console/dist/main.js
expect cli 'CLICKHOUSE_URL is not set' tools/cli/dist/main.js setup
[ "$failed" = 0 ] || exit 1
node "$repository/test/deploy/smoke-images.mjs" "$folder"
node "$repository/deploy/sbom.mjs" "$folder"
