/** Clients that write as fast as they are answered, and remember exactly what was acknowledged. */
import { randomBytes } from 'node:crypto';
import { callApi } from '../support/app.ts';
import { newEmail, text } from '../support/people.ts';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface Session {
  readonly openedAt: number;
  accessToken: string;
  refreshToken: string;
  /** A refresh was under way when its answer was lost: its token may be spent or not, and nobody can know. */
  uncertain: boolean;
}

export class Acknowledged {
  readonly sessions: Session[] = [];
  readonly registrations: Credentials[] = [];
  count = 0;
}

const writers = { sessions: 3, registrations: 1 };

/** Writes until the service is gone or `halt` is called; `done` is there when every answer has come or was lost. */
export function startWriters(url: string, account: Credentials, kept: Acknowledged) {
  let halted = false;
  const goOn = () => !halted;
  const running = [
    ...Array.from({ length: writers.sessions }, () => keepSigningIn(url, account, kept, goOn)),
    ...Array.from({ length: writers.registrations }, () => keepRegistering(url, kept, goOn)),
  ];
  return {
    halt: () => {
      halted = true;
    },
    done: Promise.allSettled(running),
  };
}

async function keepSigningIn(url: string, account: Credentials, kept: Acknowledged, goOn: () => boolean) {
  while (goOn()) {
    const session = await signIn(url, account);
    kept.sessions.push(session);
    kept.count += 1;
    for (let refreshes = 0; refreshes < 5 && goOn(); refreshes += 1) {
      await refresh(url, session);
      kept.count += 1;
    }
  }
}

async function keepRegistering(url: string, kept: Acknowledged, goOn: () => boolean) {
  while (goOn()) {
    kept.registrations.push(await register(url));
    kept.count += 1;
  }
}

export async function register(url: string, email = newEmail()): Promise<Credentials> {
  const body = { email, password: `pass ${randomBytes(6).toString('hex')}` };
  const answer = await callApi(url, 'POST', '/auth/register', { body });
  if (answer.status !== 201) throw new Error(`register answered ${answer.status}: ${answer.text}`);
  return body;
}

export async function signIn(url: string, account: Credentials): Promise<Session> {
  const body = { ...account, refreshTokenIn: 'body' };
  const answer = await callApi(url, 'POST', '/auth/login', { body });
  if (answer.status !== 200) throw new Error(`login answered ${answer.status}: ${answer.text}`);
  return { ...tokensOf(answer.body), openedAt: Date.now(), uncertain: false };
}

export async function refresh(url: string, session: Session): Promise<void> {
  session.uncertain = true;
  const answer = await callApi(url, 'POST', '/auth/refresh', {
    body: { refreshToken: session.refreshToken },
  });
  if (answer.status !== 200) throw new Error(`refresh answered ${answer.status}: ${answer.text}`);
  Object.assign(session, tokensOf(answer.body), { uncertain: false });
}

function tokensOf(body: Record<string, unknown>) {
  return { accessToken: text(body.accessToken), refreshToken: text(body.refreshToken) };
}
