/** Long work on a server, from its start to its end: whoever comes later goes on where it is. */
import { Fault } from '../fault.ts';
import type { Remote, UnitWish } from './remote.ts';

export interface Following {
  readonly signal: AbortSignal;
  line(text: string): void;
}

/** Starts it, or joins one that runs; tells its lines; fails unless it succeeds. Stopped for good when aborted. */
export async function followUnit(remote: Remote, wish: UnitWish, { signal, line }: Following): Promise<void> {
  await remote.startUnit(wish);
  let from = 0;
  let rest = '';
  const last: string[] = [];
  const tell = (text: string) => {
    line(text);
    last.push(text);
    if (last.length > 15) last.shift();
  };
  for (;;) {
    if (signal.aborted) {
      await remote.stopUnit(wish.name);
      throw signal.reason;
    }
    const { state, bytes, next } = await remote.readUnit(wish.name, from, 5_000);
    from = next;
    const lines = (rest + bytes.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const each of lines) tell(each);
    if (state.kind === 'running' || (bytes.length > 0 && state.kind === 'ended')) continue;
    if (rest !== '') tell(rest);
    if (state.kind === 'ended' && state.code === 0) return remote.stopUnit(wish.name);
    const how = state.kind === 'ended' ? `ended with ${state.code}` : 'is gone';
    await remote.stopUnit(wish.name);
    throw new Fault('remote_failed', `A command on the server ${how}.`, { evidence: last.join('\n') });
  }
}
