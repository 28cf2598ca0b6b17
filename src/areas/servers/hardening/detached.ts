/** Work on the server that goes on when we are gone, and that is waited for, not started twice, when we come back. */
import { Fault } from '../../../fault.ts';
import type { Remote } from '../../../remote/remote.ts';

// The output goes to a file: a pipe to us would break with the connection, and the work with it.
const script = String.raw`unit=$1 log=$2; shift 2
while systemctl is-active --quiet "$unit" || [ "$(systemctl is-active "$unit")" = activating ]; do sleep 0.2; done
systemctl reset-failed "$unit" 2>/dev/null || true
rm -f "$log"
code=0
systemd-run --quiet --collect --wait --unit="$unit" -p Type=oneshot -p StandardInput=null \
  -p "StandardOutput=append:$log" -p "StandardError=append:$log" -- "$@" || code=$?
printf '%s\n' "$code"
tail -c 3000 "$log" 2>/dev/null || true
`;

export interface Detached {
  readonly code: number;
  /** The end of what it printed. */
  readonly said: string;
}

const longestMs = 30 * 60_000;

export async function runDetached(
  remote: Remote,
  unit: string,
  logFile: string,
  argv: readonly string[],
): Promise<Detached> {
  const printed = await remote.script(script, [unit, logFile, ...argv], { timeoutMs: longestMs });
  const text = printed.toString('utf8');
  const end = text.indexOf('\n');
  const code = Number(text.slice(0, end));
  if (end === -1 || !Number.isInteger(code))
    throw new Fault('remote_failed', 'The server did not say how the work ended.', { evidence: text });
  return { code, said: text.slice(end + 1) };
}
