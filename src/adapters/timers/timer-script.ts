/**
 * The script behind `setTimers`. A constant text. A timer that is as wanted is not touched: its next moment stays. One
 * that is not is stopped before its files are replaced, so that one who comes after a crash in between finds it
 * stopped, and does the rest.
 */
import { fenceScript } from '../../remote/units/unit-scripts.ts';

/**
 * `$1` scope, `$2` epoch, `$3` owner. By standard input one line for each timer: its unit, and the files of service and
 * timer in base64; then the line `end`, without which nothing is done.
 */
export const timerScript = `
data=$(cat)
case $data in
  *end) ;;
  *) echo 'the timers did not arrive whole' >&2; exit 1 ;;
esac
${fenceScript}
dir=/etc/systemd/system
prefix=slipway-cron-$3-
wanted=' '
fresh=
replaced=
gone=
rm -f "$dir/.$prefix"*
is_same() {
  cmp -s "$dir/.$1" "$dir/$1"
}
while read -r unit service timer; do
  if [ "$unit" = end ]; then break; fi
  wanted="$wanted$unit "
  printf %s "$service" | base64 -d >"$dir/.$unit.service"
  printf %s "$timer" | base64 -d >"$dir/.$unit.timer"
  chmod 644 "$dir/.$unit.service" "$dir/.$unit.timer"
  if is_same "$unit.service" && is_same "$unit.timer" && [ -L "$dir/timers.target.wants/$unit.timer" ] \\
    && systemctl is-active --quiet "$unit.timer" 9>&-; then
    continue
  fi
  fresh="$fresh $unit.timer"
  if [ -e "$dir/$unit.timer" ]; then replaced="$replaced $unit.timer"; fi
done <<DATA
$data
DATA
for file in "$dir/$prefix"*.timer "$dir/$prefix"*.service; do
  if [ ! -e "$file" ]; then continue; fi
  file=\${file##*/}
  case $wanted in
    *" \${file%.*} "*) ;;
    *) gone="$gone $file" ;;
  esac
done
if [ -n "$replaced" ]; then systemctl stop $replaced 9>&-; fi
if [ -n "$gone" ]; then
  systemctl --quiet disable $gone 9>&-
  systemctl stop $gone 9>&-
  for file in $gone; do rm -f "$dir/$file"; done
fi
for timer in $fresh; do
  unit=\${timer%.timer}
  sync "$dir/.$unit.service" "$dir/.$unit.timer"
  mv -fT "$dir/.$unit.service" "$dir/$unit.service"
  mv -fT "$dir/.$unit.timer" "$dir/$unit.timer"
done
rm -f "$dir/.$prefix"*
if [ -n "$fresh$gone" ]; then
  sync "$dir"
  systemctl daemon-reload 9>&-
fi
if [ -n "$gone" ]; then systemctl reset-failed $gone 2>/dev/null 9>&- || :; fi
if [ -n "$fresh" ]; then systemctl --quiet enable --now $fresh 9>&-; fi
`;
