/**
 * Whether Slipway can work on a server, step by step, each with its result in words. For a server that is saved or not;
 * read-only, and stores nothing.
 */
import { errorText, Fault } from '../../fault.ts';
import { newId, type ServerId, type WorkspaceId } from '../../ids.ts';
import { readHostKey } from '../../remote/ssh/connect.ts';
import type { Connection } from '../../remote/ssh/connection.ts';
import { raceAbort } from '../../remote/ssh/deadline.ts';
import { tcpCheck } from '../../remote/ssh/tcp.ts';
import { Secret } from '../../secret.ts';
import { hostKeyChanged, readTarget } from './connection/connect-server.ts';
import { connectUnsaved, type LoginTarget, requireSudo } from './connection/enrol.ts';
import {
  type ProbedServer,
  readFactsOver,
  requireClock,
  requireDocker,
  requireResources,
  requireSupported,
} from './connection/server-facts.ts';
import { keysFor, type RegisterServer } from './register.ts';
import type { ServersContext } from './servers.ts';
import { requireHost } from './update.ts';

export type TestRequest = { readonly serverId: string } | RegisterServer;
type Send = (kind: string, data: object) => void;

interface Candidate {
  readonly target: LoginTarget;
  readonly auth: { readonly password: Secret } | { readonly privateKey: Secret } | undefined;
  /** Saved: a host key other than the pinned one blocks it. Not saved: it differs from the one given. */
  readonly isSaved: boolean;
}

/** Invalid input is refused before the stream begins; the caller runs the steps. */
export async function testConnection(ctx: ServersContext, workspaceId: WorkspaceId, body: TestRequest) {
  const candidate =
    'serverId' in body
      ? await savedServer(ctx, workspaceId, body.serverId as ServerId)
      : await unsavedServer(ctx, body);
  return (send: Send, signal: AbortSignal) => runSteps(candidate, send, signal);
}

async function runSteps(candidate: Candidate, send: Send, signal: AbortSignal): Promise<'over'> {
  const { target, auth, isSaved } = candidate;
  const { host, port, resolve } = target;
  const endpoint = { host, port, resolve };
  let hostKey: string | null = null;
  let seen: ProbedServer | undefined;
  let connection: Connection | undefined;
  const isByPassword = auth !== undefined && 'password' in auth;
  const steps: [string, () => Promise<string>][] = [
    ['resolve', async () => (await raceAbort(resolve(host), signal)).join(', ')],
    ['tcp', async () => tcpCheck(endpoint, 10_000, signal).then(() => `port ${port} answers`)],
    [
      'host_key',
      async () => {
        const offered = await readHostKey({ ...endpoint, signal });
        hostKey = offered.fingerprint;
        return `${offered.type} ${offered.fingerprint}${target.expectedHostKey ? '' : ', not compared with anything yet'}`;
      },
    ],
    [
      'authenticate',
      async () => {
        if (!auth) throw keyNotInstalled();
        connection = await connectUnsaved(target, auth, signal).catch((error: unknown) => {
          if (!isSaved || !(error instanceof Fault) || error.code !== 'host_key_mismatch') throw error;
          throw hostKeyChanged(target.expectedHostKey ?? null, hostKey);
        });
        hostKey = connection.hostKey.fingerprint;
        return `logged in as ${target.username}`;
      },
    ],
    [
      'privilege',
      async () => {
        if (target.username === 'root' || !connection) return 'root';
        // A password that may be used for sudo is tried when the server is registered, not by looking.
        if (isByPassword) return 'sudo is tried with the password on registration';
        return requireSudo(connection).then(() => 'sudo without a password');
      },
    ],
    [
      'system',
      async () => {
        if (!connection) throw new Error('no connection');
        seen = await readFactsOver(connection, target.username !== 'root' && !isByPassword, signal);
        requireSupported(seen);
        return seen.facts.os;
      },
    ],
    [
      'docker',
      async () => {
        if (isByPassword && target.username !== 'root')
          return 'this user cannot see Docker before registration';
        return checked(seen, requireDocker, ({ facts }) => `Docker ${facts.dockerVersion}`);
      },
    ],
    [
      'resources',
      async () =>
        checked(
          seen,
          requireResources,
          ({ facts }) => `${facts.diskFreeMb} MB of disk are free, ${facts.memoryMb} MB of memory`,
        ),
    ],
    ['clock', async () => checked(seen, requireClock, () => 'the clock is right')],
  ];
  // Provisioning installs Docker where it is missing; any other failure ends the test.
  const warnings = new Set(['docker_missing']);
  try {
    for (const [step, work] of steps) {
      try {
        send('step', { step, status: 'passed', message: await work() });
      } catch (error) {
        if (signal.aborted) return 'over';
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
        const fault = { code, step, message: errorText(error), hint, evidence };
        send('result', { ok: false, hostKeyFingerprint: hostKey, facts: seen?.facts ?? null, fault });
        return 'over';
      }
    }
    send('result', { ok: true, hostKeyFingerprint: hostKey, facts: seen?.facts ?? null, fault: null });
    return 'over';
  } finally {
    await connection?.close();
  }
}

function checked(
  seen: ProbedServer | undefined,
  judge: (seen: ProbedServer) => void,
  say: (seen: ProbedServer) => string,
): string {
  if (!seen) throw new Error('checked before it was probed');
  judge(seen);
  return say(seen);
}

async function savedServer(ctx: ServersContext, workspaceId: WorkspaceId, id: ServerId): Promise<Candidate> {
  const { host, port, username, privateKey, hostKey } = await readTarget(ctx, workspaceId, id);
  const { resolveHost: resolve } = ctx;
  const target = { host, port, resolve, username, expectedHostKey: hostKey ?? undefined };
  return { target, auth: { privateKey }, isSaved: true };
}

async function unsavedServer(
  { resolveHost: resolve }: ServersContext,
  { host, port = 22, username = 'root', auth, hostKeyFingerprint }: RegisterServer,
): Promise<Candidate> {
  requireHost(host);
  const target = { host, port, resolve, username, expectedHostKey: hostKeyFingerprint };
  if (auth.type === 'password')
    return { target, auth: { password: new Secret(auth.password) }, isSaved: false };
  if (auth.type === 'generated') return { target, auth: undefined, isSaved: false };
  return { target, auth: await keysFor(auth, newId<ServerId>()), isSaved: false };
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
