/**
 * Makes a server ready: Docker, our folders and network, the proxy. A durable operation, started on registration and on
 * request; a second run finds everything and changes nothing.
 */

import { minute } from '../../clock.ts';
import { ensureNetworkRules, ensureProxy } from '../../engine/single-server/single-server.ts';
import type { AccountId, ServerId, WorkspaceId } from '../../ids.ts';
import {
  defineOperation,
  type OperationKind,
  type Step,
  type StepContext,
} from '../../operations/definition.ts';
import type { Remote } from '../../remote/remote.ts';
import { followUnit } from '../../remote/units/follow-unit.ts';
import type { SaveResponse } from '../../store/answer.ts';
import { aptProgress } from './apt-progress.ts';
import { connectTo } from './connection/connect-server.ts';
import { probeServer } from './connection/probe-server.ts';
import { readFacts, requireDocker, requireResources, requireSupported } from './connection/server-facts.ts';
import { ensureDockerSettings } from './docker-settings.ts';
import * as queries from './queries.ts';
import { publishServerUpdate, type ServersContext } from './servers.ts';
import { provisionKind, type StartedOperation, startOnServer } from './start-operation.ts';

export function provisionServer(
  ctx: ServersContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  requestedBy: AccountId,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const work = { workspaceId, serverId, kind: provisionKind, input: { serverId }, requestedBy } as const;
  return startOnServer(ctx, work, saveResponse);
}

interface Input {
  readonly serverId: ServerId;
}

const noUndo = { none: 'What is installed stays: it does no harm, and the next run goes on from it.' };

export function provisionOperation(ctx: ServersContext): OperationKind {
  const remoteOf = async (input: Input, context: StepContext) =>
    (await connectTo(ctx, context.workspaceId, input.serverId)).remote;
  const steps: Step<Input>[] = [
    {
      name: 'contact',
      deadlineMs: 2 * minute,
      undo: { none: 'Checking changes nothing.' },
      run: async (input, context) => {
        const seen = await probeServer(ctx, context.workspaceId, input.serverId, context.signal);
        requireSupported(seen);
        requireResources(seen);
        context.log(`${seen.facts.os}, ${seen.facts.cpus} processors, ${seen.facts.memoryMb} MB`);
        return undefined;
      },
    },
    {
      name: 'docker',
      deadlineMs: 20 * minute,
      undo: noUndo,
      run: async (input, context) => {
        const remote = await remoteOf(input, context);
        const before = await readFacts(remote, context.signal);
        if (before.facts.dockerVersion !== null) {
          requireDocker(before);
          context.log(`Docker ${before.facts.dockerVersion} is installed and left as it is`);
          return undefined;
        }
        await remote.fence(context.operationId, context.epoch);
        const unit = {
          name: `slipway-${context.operationId}-docker`,
          argv: ['sh', '-euc', installDocker],
          what: 'Installing Docker',
          hintFor: installHint,
          fence: { scope: context.operationId, epoch: context.epoch },
        };
        const progress = aptProgress(context.progress);
        const line = (text: string) => {
          context.log(text);
          progress(text);
        };
        await followUnit(remote, unit, { signal: context.signal, line });
        requireDocker(await readFacts(remote, context.signal));
        return undefined;
      },
    },
    {
      name: 'settings',
      deadlineMs: 5 * minute,
      undo: noUndo,
      run: async (input, context) => {
        await ensureSettings(await remoteOf(input, context), context);
        return undefined;
      },
    },
    {
      name: 'proxy',
      deadlineMs: 10 * minute,
      undo: noUndo,
      run: async (input, context) => {
        context.log('starting the proxy; where its image is missing, it is pulled first');
        const changed = await ensureProxy(await remoteOf(input, context), context.signal);
        context.log(changed ? 'the proxy runs' : 'the proxy was running already');
        return undefined;
      },
    },
    {
      name: 'ready',
      deadlineMs: minute,
      undo: { none: 'The next check of the server says what it is.' },
      run: async (input, context) => {
        const { facts } = await readFacts(await remoteOf(input, context), context.signal);
        const now = ctx.clock.now();
        await ctx.db.transaction(async (tx) => {
          await queries.setServerSeen(
            tx,
            { workspaceId: context.workspaceId, id: input.serverId },
            { facts, isProvisioned: true },
            now,
          );
          await publishServerUpdate(tx, context.workspaceId, input.serverId, 'provisioned');
        });
        return undefined;
      },
    },
  ];
  return defineOperation({ kind: provisionKind, readInput, steps });
}

/** Docker's own settings, our folder and our network, and what containers may not reach. */
export async function ensureSettings(
  remote: Remote,
  { signal, log }: Pick<StepContext, 'signal' | 'log'>,
): Promise<void> {
  for (const name of await ensureDockerSettings(remote)) log(`daemon.json: ${name} set`);
  const printed = await remote.script(prepareScript, [], { signal, timeoutMs: 2 * minute });
  for (const line of printed.toString().split('\n').filter(Boolean)) log(line);
  await ensureNetworkRules(remote, { insists: true, signal });
}

function readInput(stored: unknown): Input {
  const { serverId } = Object(stored);
  if (typeof serverId !== 'string') throw new Error('the input names no server');
  return { serverId: serverId as ServerId };
}

/** Debian's own packages: they get its security updates. Where the client is a package of its own, that too. */
function installHint(evidence: string): string {
  if (/could not get lock|is another process using it/i.test(evidence))
    return 'Another program installs packages on the server, as unattended-upgrades does after a boot. Provision it again in some minutes.';
  if (/temporary failure resolving|could not resolve|failed to fetch|unable to connect/i.test(evidence))
    return 'The server does not reach its package mirror. Run `apt-get update` there until it works, then provision it again.';
  if (/no installation candidate|unable to locate package/i.test(evidence))
    return 'The package sources of the server have no Docker. Install it by hand, then provision the server again.';
  return 'Run `apt-get install docker.io` on the server to see why, then provision it again.';
}

const installDocker = `
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt-get update
set -- docker.io ca-certificates openssl nftables
for each in docker-cli docker-buildx docker-compose; do
  if apt-cache show "$each" > /dev/null 2>&1; then set -- "$@" "$each"; fi
done
apt-get install --yes --no-install-recommends "$@"
systemctl enable --now docker
`;

const prepareScript = `
umask 022
mkdir -p /var/lib/slipway
docker network inspect slipway > /dev/null 2>&1 || {
  docker network create --label slipway=network slipway > /dev/null
  echo 'the network slipway was created'
}
`;
