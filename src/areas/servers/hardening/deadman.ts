/**
 * The dead-man timer. It is on the server with everything it needs: a crash of ours, a lost network or a reboot do not
 * stop it. Armed before a risky step, disarmed by whoever has verified a new login, and by nobody else.
 */
import { Fault } from '../../../fault.ts';
import type { Remote } from '../../../remote/remote.ts';
import { deadmanScriptPath, stateDir } from './paths.ts';

const armScript = String.raw`token=$1 dir=$2 seconds=$3 state=$4 program=$5
umask 022
exec 9> "$state/lock"
flock -w 60 9
units=/etc/systemd/system
cat > "$units/slipway-deadman.service" <<END
[Unit]
Description=Undoes an unverified step of hardening
After=ssh.service slipway-firewall.service slipway-docker-ports.service
ConditionPathExists=$program

[Service]
Type=oneshot
ExecStart=/bin/sh $program
Restart=on-failure
RestartSec=5

[Install]
WantedBy=multi-user.target
END
cat > "$units/slipway-deadman.timer" <<END
[Unit]
Description=Deadline of a step of hardening

[Timer]
OnActiveSec=$seconds
AccuracySec=100ms
END
printf '%s\n%s\n%s\n' "$token" "$dir" "$(( $(date +%s) + seconds ))" > "$state/armed.part"
rm -f "$dir/fired"
sync
mv -f "$state/armed.part" "$state/armed"
systemctl daemon-reload
systemctl enable --quiet slipway-deadman.service
systemctl restart slipway-deadman.timer
systemctl is-active --quiet slipway-deadman.timer
sync
`;

const disarmScript = `token=$1 state=$2
exec 9> "$state/lock"
flock -w 60 9
if [ "$(sed -n 1p "$state/armed" 2>/dev/null)" != "$token" ]; then echo fired; exit 0; fi
rm -f "$state/armed"
sync
systemctl stop slipway-deadman.timer
units=/etc/systemd/system
rm -f "$units/multi-user.target.wants/slipway-deadman.service" "$units/slipway-deadman.service" "$units/slipway-deadman.timer"
systemctl daemon-reload
echo disarmed
`;

export async function arm(remote: Remote, token: string, dir: string, seconds: number): Promise<void> {
  await remote.script(armScript, [token, dir, String(seconds), stateDir, deadmanScriptPath]);
}

/** Fails where the timer was faster: the step has been undone. */
export async function disarm(remote: Remote, token: string): Promise<void> {
  const printed = (await remote.script(disarmScript, [token, stateDir])).toString('utf8').trim();
  if (printed === 'disarmed') return;
  throw new Fault('lockout_prevented', 'The login was verified too late; the server had undone the step.', {
    hint: 'Run the step again.',
  });
}

/** What the timer would do, now. Where another has armed since, that one's step is left to it. */
export async function undoArmed(remote: Remote, token: string): Promise<void> {
  await remote.script('sh "$1" "$2"', [deadmanScriptPath, token]);
}
