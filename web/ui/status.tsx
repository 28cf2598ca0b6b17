/** A state as a dot and a word: the colour alone says nothing to those who do not see it. */
import { words } from '../data/words.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'idle';

const tones: Readonly<Record<string, Tone>> = {
  running: 'good',
  ready: 'good',
  active: 'good',
  succeeded: 'good',
  verified: 'good',
  connected: 'good',
  issued: 'good',
  delivered: 'good',
  hardened: 'good',
  pass: 'good',
  done: 'good',
  passed: 'good',
  degraded: 'bad',
  failed: 'bad',
  fail: 'bad',
  unreachable: 'bad',
  host_key_changed: 'bad',
  rejected: 'bad',
  no_quorum: 'bad',
  down: 'bad',
  at_risk: 'bad',
  dead: 'bad',
  warn: 'warn',
  warning: 'warn',
  fair: 'warn',
  declined: 'warn',
  cancelling: 'warn',
  drain: 'warn',
  deploying: 'busy',
  analyzing: 'busy',
  queued: 'busy',
  preparing: 'busy',
  building: 'busy',
  starting: 'busy',
  switching: 'busy',
  dumping: 'busy',
  storing: 'busy',
  verifying: 'busy',
  fetching: 'busy',
  sending: 'busy',
  creating: 'busy',
  joining: 'busy',
  leaving: 'busy',
};

export function toneOf(status: string): Tone {
  return tones[status] ?? 'idle';
}

export function Status({
  status,
  text = words(status),
}: {
  readonly status: string;
  readonly text?: string;
}) {
  return (
    <span class={`status status-${toneOf(status)}`}>
      <span class="dot" aria-hidden="true" />
      {text}
    </span>
  );
}
