/** All connections of this process, one a server, and what can be done through each. */
import type { Logger } from 'pino';
import { Fault } from '../fault.ts';
import type { ServerId } from '../ids.ts';
import { Commands } from './exec/commands.ts';
import { readFile, writeFile } from './exec/files.ts';
import { relay } from './relay/relay.ts';
import type { Remote, RemotePool, RemoteTarget } from './remote.ts';
import { connectionLost } from './ssh/connection.ts';
import { Link } from './ssh/link.ts';
import type { ResolveHost } from './ssh/tcp.ts';
import { claimFence, readUnit, startUnit, stopUnit } from './units/units.ts';

export function createRemotePool(resolve: ResolveHost, log: Logger): RemotePool {
  const links = new Map<ServerId, Link>();
  let isClosed = false;
  const drop = (serverId: ServerId) => {
    const link = links.get(serverId);
    links.delete(serverId);
    return link?.close(connectionLost('the server was changed or removed here'));
  };
  return {
    to(target) {
      if (isClosed) throw new Fault('shutting_down', 'The service is stopping.');
      const known = links.get(target.serverId);
      if (known && isSame(known.target, target)) return remoteOf(known);
      if (known) void drop(target.serverId);
      const link = new Link(target, resolve, log);
      links.set(target.serverId, link);
      return remoteOf(link);
    },
    drop(serverId) {
      void drop(serverId);
    },
    async close() {
      isClosed = true;
      const all = [...links.values()];
      links.clear();
      await Promise.all(
        all.map((link) => link.close(new Fault('shutting_down', 'The service is stopping.'))),
      );
    },
  };
}

function remoteOf(link: Link): Remote {
  const commands = new Commands(link);
  return {
    secrets: [],
    run: (argv, options) => commands.run(argv, options),
    output: (argv, options) => commands.output(argv, options),
    script: (text, args, options) => commands.script(text, args, options),
    relay: (exchanges, options) => relay(commands, exchanges, options),
    stream: (argv, options) => commands.stream(argv, options),
    writeFile: (path, content, attributes) => writeFile(commands, path, content, attributes),
    readFile: (path, options) => readFile(commands, path, options),
    startUnit: (spec, waitMs) => startUnit(commands, spec, waitMs),
    readUnit: (name, from, waitMs) => readUnit(commands, name, from, waitMs),
    stopUnit: (name, fence) => stopUnit(commands, name, fence),
    fence: (scope, epoch) => claimFence(commands, scope, epoch),
  };
}

function isSame(one: RemoteTarget, other: RemoteTarget): boolean {
  const fields = ['host', 'port', 'username', 'hostKey'] as const;
  return (
    fields.every((field) => one[field] === other[field]) &&
    one.privateKey.reveal() === other.privateKey.reveal()
  );
}
