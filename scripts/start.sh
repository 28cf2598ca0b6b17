# `npm start`: what the last start has found out holds as long as nothing has changed that it looked at, and `find` sees
# that in the time in which a Node would begin to load. The change time is asked for, which nobody can set back; a file
# that is gone has changed its folder.
last=node_modules/.cache/slipway/last-start.sh
set -- src scripts package-lock.json node_modules/.slipway-installed
if [ -f "$last" ] && [ -z "$(find "$@" -cnewer "$last" -print -quit 2>&1)" ]; then . "./$last"; fi
exec node scripts/run.mjs --service src/main.ts
