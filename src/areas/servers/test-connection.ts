/**
 * Whether a server can be worked on, step by step, each with its result in words. Before it is saved as well as
 * after; looks only, and stores nothing.
 */
import { errorText, Fault } from '../../fault.ts';
import { newId, type ServerId, type WorkspaceId } from '../../ids.ts';
import { readHostKey } from '../../remote/ssh/connect.ts';
import type { Connection } from '../../remote/ssh/connection.ts';
import { resolveHost, tcpCheck } from '../../remote/ssh/tcp.ts';
import { Secret } from '../../secret.ts';
import { connectGiven, requireSudo, type Way } from './connection/enrol.ts';
import {
  readFactsOver,
  requireClock,
  requireDocker,
  requireResources,
  requireSupported,
  type SeenServer,
} from './connection/server-facts.ts';
import * as queries from './queries.ts';
import { keysFor, type NewServer } from './register.ts';
import { hostKeyChanged, keyPlace, notFound, type ServersContext } from './servers.ts';

export type TestBody = { readonly serverId: string } | NewServer;
type Send = (kind: string, data: object) => void;

interface Candidate {
  readonly way: Way;
  readonly auth: { readonly password: Secret } | { readonly privateKey: Secret } | undefined;
  /** Saved: another key than the pinned one blocks it. Not saved: it is unlike the one that was given. */
  readonly isSaved: boolean;
}

/** What can be refused is refused before the stream begins; the steps are run by whoever sends them. */
export async function testConnection(ctx: ServersContext, workspaceId: WorkspaceId, body: TestBody) {
  const candidate =
    'serverId' in body ? await saved(ctx, workspaceId, body.serverId as ServerId) : await given(body);
  return (send: Send, signal: AbortSignal) => runSteps(candidate, send, signal);
}

async function runSteps(candidate: Candidate, send: Send, signal: AbortSignal): Promise<void> {
  const { way, auth, isSaved } = candidate;
  const place = { host: way.host, port: way.port };
  let hostKey: string | null = null;
  let seen: SeenServer | undefined;
  let connection: Connection | undefined;
  const isByPassword = auth !== undefined && 'password' in auth;
  const steps: [string, () => Promise<string>][] = [
    ['resolve', async () => (await resolveHost(way.host, signal)).join(', ')],
    ['tcp', async () => tcpCheck(place, 10_000, signal).then(() => `port ${way.port} answers`)],
    [
      'host_key',
      async () => {
        const shown = await readHostKey({ ...place, signal });
        hostKey = shown.fingerprint;
        return `${shown.type} ${shown.fingerprint}${way.expectedHostKey ? '' : ', not compared with anything yet'}`;
      },
    ],
    [
      'authenticate',
      async () => {
        if (!auth) throw keyNotInstalled();
        connection = await connectGiven(way, auth, signal).catch((error: unknown) => {
          if (!isSaved || !(error instanceof Fault) || error.code !== 'host_key_mismatch') throw error;
          throw hostKeyChanged(way.expectedHostKey ?? null, hostKey);
        });
        hostKey = connection.hostKey.fingerprint;
        return `logged in as ${way.username}`;
      },
    ],
    [
      'privilege',
      async () => {
        if (way.username === 'root' || !connection) return 'root';
        // A password that may be used for sudo is tried when the server is registered, not by looking.
        if (isByPassword) return 'sudo is tried with the password on registration';
        return requireSudo(connection).then(() => 'sudo without a password');
      },
    ],
    [
      'system',
      async () => {
        if (!connection) throw new Error('no connection');
        seen = await readFactsOver(connection, way.username !== 'root' && !isByPassword, signal);
        requireSupported(seen);
        return seen.facts.os;
      },
    ],
    [
      'docker',
      async () => {
        if (isByPassword && way.username !== 'root') return 'this user cannot see Docker before registration';
        return judged(seen, requireDocker, ({ facts }) => `Docker ${facts.dockerVersion}`);
      },
    ],
    [
      'resources',
      async () =>
        judged(
          seen,
          requireResources,
          ({ facts }) => `${facts.diskFreeMb} MB of disk are free, ${facts.memoryMb} MB of memory`,
        ),
    ],
    ['clock', async () => judged(seen, requireClock, () => 'the clock is right')],
  ];
  // Docker is installed by us where it is missing; the rest of these ends the test.
  const warnings = new Set(['docker_missing']);
  try {
    for (const [step, work] of steps) {
      try {
        send('step', { step, status: 'passed', message: await work() });
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof Fault)) throw error;
        const isWarning = warnings.has(error.code);
        const { code, hint = null, evidence = null } = error;
        send('step', {
          step,
          status: isWarning ? 'warning' : 'failed',
          message: errorText(error),
          code,
          hint,
          evidence,
        });
        if (isWarning) continue;
        const fault = { code, step, message: errorText(error), hint };
        return send('result', { ok: false, hostKeyFingerprint: hostKey, facts: seen?.facts ?? null, fault });
      }
    }
    send('result', { ok: true, hostKeyFingerprint: hostKey, facts: seen?.facts ?? null, fault: null });
  } finally {
    await connection?.close();
  }
}

function judged(
  seen: SeenServer | undefined,
  judge: (seen: SeenServer) => void,
  say: (seen: SeenServer) => string,
): string {
  if (!seen) throw new Error('judged before it was seen');
  judge(seen);
  return say(seen);
}

async function saved(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<Candidate> {
  const row = await queries.findTarget(ctx.db, workspaceId, id);
  if (!row) throw notFound();
  const { host, port, username } = row;
  const privateKey = await ctx.sealer.open(ctx.db, keyPlace(workspaceId, id), row.privateKeySealed);
  const way = { host, port, username, expectedHostKey: row.hostKey ?? undefined };
  return { way, auth: { privateKey }, isSaved: true };
}

async function given({
  host,
  port = 22,
  username = 'root',
  auth,
  hostKeyFingerprint,
}: NewServer): Promise<Candidate> {
  const way = { host, port, username, expectedHostKey: hostKeyFingerprint };
  if (auth.type === 'password') return { way, auth: { password: new Secret(auth.password) }, isSaved: false };
  if (auth.type === 'generated') return { way, auth: undefined, isSaved: false };
  return { way, auth: await keysFor(auth, newId<ServerId>()), isSaved: false };
}

function keyNotInstalled(): Fault {
  return new Fault(
    'login_refused',
    'The key is made when the server is registered, so it cannot be tried before.',
    {
      hint: 'Register the server, install the public key of the answer, then test it by its id.',
    },
  );
}
