#!/bin/sh
# Makes the secrets that the containers share, once: a file that is there stays. Run it before `docker compose up`.
set -eu
cd "$(dirname "$0")/../.."

# The folder keeps the host's other users out. The files are readable, because each container reads its own as another user.
mkdir -p secrets
chmod 0700 secrets
for name in drachtio_secret freeswitch_secret; do
  file="secrets/$name"
  [ -s "$file" ] && continue
  (umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$file")
  chmod 0444 "$file"
  echo "made $file"
done
