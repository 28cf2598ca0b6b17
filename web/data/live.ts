/** The one stream of events of this tab: it keeps the cache true, and resumes where it broke off. */
import { effect, signal } from '@preact/signals';
import { ProblemError } from '../../sdk/index.ts';
import { api } from './api.ts';
import { dropAll, forgetAll, hear, loadAfter } from './resource.ts';
import { sessionEnded, signedIn } from './session.ts';

export type Connection = 'connecting' | 'live' | 'lost';

export const connection = signal<Connection>('connecting');

const againMs = 3_000;
/** A stream that takes longer to begin than this holds up nobody; what was loaded is then loaded again. */
const patienceMs = 600;

/** For as long as someone is signed in; another workspace is another stream. */
export function keepLive(): void {
  let key = '';
  let following: AbortController | undefined;
  effect(() => {
    const now = signedIn.value;
    const next = now ? `${now.user.id} ${now.workspace.id}` : '';
    if (next === key) return;
    key = next;
    following?.abort();
    dropAll();
    if (!now) return;
    following = new AbortController();
    const { signal } = following;
    loadAfter(new Promise((resolve) => void follow(signal, resolve)));
  });
}

async function follow(signal: AbortSignal, begin: () => void): Promise<void> {
  connection.value = 'connecting';
  let hasBegun = false;
  const patience = setTimeout(() => {
    hasBegun = true;
    begin();
  }, patienceMs);
  while (!signal.aborted) {
    try {
      // Where it breaks off, it goes on behind the last event by itself: nothing is missed.
      let isResumed = false;
      const onConnection = (isConnected: boolean) => {
        if (signal.aborted) return;
        connection.value = isConnected ? 'live' : 'lost';
        if (!isConnected) return;
        if (!isResumed && hasBegun) forgetAll();
        isResumed = true;
        hasBegun = true;
        clearTimeout(patience);
        begin();
      };
      for await (const event of api.followEvents({}, { signal, onConnection })) hear(event);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ProblemError && error.status === 401) return void sessionEnded();
    }
    connection.value = 'lost';
    await pause(signal);
  }
}

/** Sooner where the network says that it is back. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, againMs);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}
