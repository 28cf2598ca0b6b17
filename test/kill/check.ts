/** Asks the service for everything it has acknowledged. What is not there is lost. */
import { callApi } from '../support/app.ts';
import { type Acknowledged, refresh, type Session } from './writers.ts';

const tokenLifeMs = 14 * 60_000;

/** Sentences about what is missing; none where all is well. Each refresh token that is tried is thereby renewed. */
export async function findLosses(url: string, kept: Acknowledged): Promise<string[]> {
  const losses: string[] = [];
  for (const [at, session] of [...kept.sessions].entries()) {
    losses.push(...(await checkSession(url, session)));
    if (session.uncertain) continue;
    const spent = session.refreshToken;
    try {
      await refresh(url, session);
      kept.count += 1;
    } catch (error) {
      losses.push(`an acknowledged refresh token is not accepted: ${String(error)}`);
      continue;
    }
    if (at % 7 !== 3) continue;
    losses.push(...(await checkSpent(url, session, spent)));
    kept.sessions.splice(kept.sessions.indexOf(session), 1);
  }
  for (const body of kept.registrations) {
    const answer = await callApi(url, 'POST', '/auth/login', { body });
    if (answer.body.code === 'email_not_verified') continue;
    losses.push(`the registration of ${body.email} is gone: login answered ${answer.status} ${answer.text}`);
  }
  return losses;
}

async function checkSession(url: string, session: Session): Promise<string[]> {
  if (Date.now() - session.openedAt > tokenLifeMs) return [];
  const answer = await callApi(url, 'GET', '/auth/me', { token: session.accessToken });
  if (answer.status === 200) return [];
  return [`an acknowledged session is gone: /auth/me answered ${answer.status} ${answer.text}`];
}

/** Once means once, also after a crash: the token that was just traded in is refused, and ends its session. */
async function checkSpent(url: string, session: Session, spent: string): Promise<string[]> {
  const again = await callApi(url, 'POST', '/auth/refresh', { body: { refreshToken: spent } });
  const after = await callApi(url, 'GET', '/auth/me', { token: session.accessToken });
  if (again.status === 401 && after.status === 401) return [];
  return [`a spent refresh token was answered ${again.status}, and its session then ${after.status}`];
}
