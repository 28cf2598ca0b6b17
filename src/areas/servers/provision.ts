/**
 * Makes a server ready: Docker, our folders and network, the proxy. As a durable operation, on registration and
 * again whenever asked; a second run finds everything and changes nothing.
 */

import { ensureProxy } from '../../adapters/proxy/proxy.ts';
import { minute } from '../../clock.ts';
import type { ServerId } from '../../ids.ts';
import {
  defineOperation,
  type OperationKind,
  type Step,
  type StepContext,
} from '../../operations/definition.ts';
import type { Remote } from '../../remote/remote.ts';
import { followUnit } from '../../remote/units/follow-unit.ts';
import { probeServer } from './connection/probe-server.ts';
import { readFacts, requireDocker, requireResources, requireSupported } from './connection/server-facts.ts';
import { ensureDockerSettings } from './docker-settings.ts';
import * as queries from './queries.ts';
import { connectTo, publishServerUpdate, type ServersContext } from './servers.ts';
import { provisionKind } from './start-operation.ts';

interface Input {
  readonly serverId: ServerId;
}

const stays = { none: 'What is installed stays: it does no harm, and the next run goes on from it.' };

export function provisionOperation(ctx: ServersContext): OperationKind {
  const remoteOf = async (input: Input, context: StepContext) =>
    (await connectTo(ctx, context.workspaceId, input.serverId)).remote;
  const steps: Step<Input>[] = [
    {
      name: 'contact',
      deadlineMs: 2 * minute,
      undo: { none: 'Looking changes nothing.' },
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
      undo: stays,
      run: async (input, context) => {
        const remote = await remoteOf(input, context);
        const before = await readFacts(remote, context.signal);
        if (before.facts.dockerVersion !== null) {
          requireDocker(before);
          context.log(`Docker ${before.facts.dockerVersion} is there and is left alone`);
          return undefined;
        }
        await remote.fence(context.operationId, context.epoch);
        const wish = {
          name: `slipway-${context.operationId}-docker`,
          argv: ['sh', '-euc', installDocker],
          fence: { scope: context.operationId, epoch: context.epoch },
        };
        await followUnit(remote, wish, { signal: context.signal, line: (text) => context.log(text) });
        requireDocker(await readFacts(remote, context.signal));
        return undefined;
      },
    },
    {
      name: 'settings',
      deadlineMs: 5 * minute,
      undo: stays,
      run: async (input, context) => {
        await ensureSettings(await remoteOf(input, context), context);
        return undefined;
      },
    },
    {
      name: 'proxy',
      deadlineMs: 10 * minute,
      undo: stays,
      run: async (input, context) => {
        const changed = await ensureProxy(await remoteOf(input, context), context.signal);
        context.log(changed ? 'the proxy runs' : 'the proxy was running already');
        return undefined;
      },
    },
    {
      name: 'ready',
      deadlineMs: minute,
      undo: { none: 'The next look at the server says what it is.' },
      run: async (input, context) => {
        const { facts } = await readFacts(await remoteOf(input, context), context.signal);
        const now = ctx.clock.now();
        await ctx.db.transaction(async (tx) => {
          await queries.setProvisioned(tx, context.workspaceId, input.serverId, facts, now);
          await publishServerUpdate(tx, context.workspaceId, input.serverId, 'provisioned');
        });
        return undefined;
      },
    },
  ];
  return defineOperation({ kind: provisionKind, readInput, steps });
}

/** Docker's own settings, our folder and our network. */
export async function ensureSettings(
  remote: Remote,
  { signal, log }: Pick<StepContext, 'signal' | 'log'>,
): Promise<void> {
  for (const name of await ensureDockerSettings(remote)) log(`daemon.json: ${name} set`);
  const said = await remote.script(prepare, [], { signal, timeoutMs: 2 * minute });
  for (const line of said.toString().split('\n').filter(Boolean)) log(line);
}

function readInput(stored: unknown): Input {
  const { serverId } = Object(stored);
  if (typeof serverId !== 'string') throw new Error('an input without a server');
  return { serverId: serverId as ServerId };
}

/** Debian's own packages: they get its security updates. Where the client is a package of its own, that too. */
const installDocker = `
export DEBIAN_FRONTEND=noninteractive
apt-get update
set -- docker.io ca-certificates openssl
for each in docker-cli docker-buildx docker-compose; do
  if apt-cache show "$each" > /dev/null 2>&1; then set -- "$@" "$each"; fi
done
apt-get install --yes --no-install-recommends "$@"
systemctl enable --now docker
`;

const prepare = `
umask 022
mkdir -p /var/lib/slipway
docker network inspect slipway > /dev/null 2>&1 || {
  docker network create --label slipway=network slipway > /dev/null
  echo 'the network slipway was made'
}
`;
