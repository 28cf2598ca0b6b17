/** Which framework an app is made with, where its package has several. */
import { entryFile, listens } from '../commands/entry-file.ts';
import { type Start, startOf } from '../commands/start-command.ts';
import type { NodePackage } from '../node-package.ts';
import type { NodeFramework } from './framework.ts';
import { bundlers, metaFrameworks, servers } from './frameworks.ts';

/**
 * A framework that renders goes first. A server beside a bundler is the app when it is what is started; the bundler
 * then only makes what it hands out.
 */
export function chooseFramework(package_: NodePackage): NodeFramework | undefined {
  const { manifest } = package_;
  const find = (all: readonly NodeFramework[]) => all.find((each) => isUsed(package_, each));
  const meta = find(metaFrameworks);
  if (meta) return meta;
  const bundler = find(bundlers);
  // A server among the devDependencies serves tests or mocks.
  const server =
    servers.find(
      (each) => isUsed(package_, each) && each.packages.some((name) => manifest.dependencies.has(name)),
    ) ?? (bundler ? undefined : find(servers));
  if (!server || !bundler) return server ?? bundler;
  if (!bundler.isBundler) return bundler;
  const entry = entryFile(package_);
  const isServer = entry !== undefined && listens(package_, entry);
  return isServer || startsServer(startOf(package_)) ? server : bundler;
}

function startsServer(start: Start | undefined): boolean {
  if (!start || start.isServing) return false;
  const runtimes = /^(?:node|ts-node|tsx|bun|nest|pm2|pm2-runtime|deno|fastify)$/;
  return (
    start.commands.some(({ program }) => runtimes.test(program)) ||
    /^(?:node|bun|npx tsx)/.test(start.command.value)
  );
}

function isUsed(package_: NodePackage, { packages, files = [], isUsed: rule }: NodeFramework): boolean {
  const isThere = package_.dependsOn(...packages) || package_.first(...files) !== undefined;
  return isThere && (rule?.(package_) ?? true);
}
