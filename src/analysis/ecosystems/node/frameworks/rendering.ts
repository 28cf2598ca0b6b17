/** What comes out of a framework's build: files for a browser, and where they lie, or a server. */
import type { ScriptCommand } from '../commands/script-commands.ts';
import type { NodePackage } from '../node-package.ts';
import { configuredFolder } from './config-value.ts';
import type { NodeFramework, Rendering } from './framework.ts';
import { staticFolder } from './static-folder.ts';

export function renderingOf(package_: NodePackage, framework: NodeFramework): Rendering {
  const { kind, rendering, configs = [] } = framework;
  if (kind === 'server') return { kind };
  const file = package_.first(...configs);
  const config = file === undefined ? undefined : package_.repository.source(file)?.config;
  const decided = rendering?.(package_, config, file ?? package_.manifest.file) ?? 'static';
  if (typeof decided === 'object') return decided;
  if (decided === 'server') return { kind: 'server' };
  return { kind: 'static', output: staticFolder(package_, framework, config, file) };
}

/** A program of the framework, or its server where the build would put one: neither is a server of the app's own. */
export function runsFramework(framework: NodeFramework, { program, args }: ScriptCommand): boolean {
  const { programs = {}, build, start } = framework;
  const [starter = '', ...words] = typeof start === 'string' ? start.split(' ') : [];
  const isRuntime = runtimes.has(program);
  if (!isRuntime)
    return program === starter || program === build?.split(' ')[0] || Object.hasOwn(programs, program);
  const built = configuredFolder(words[0]);
  const file = configuredFolder(args.find((arg) => !arg.startsWith('-')));
  return built !== undefined && file !== undefined && (file === built || file.startsWith(`${built}/`));
}

const runtimes = new Set(['node', 'bun', 'deno', 'tsx']);
