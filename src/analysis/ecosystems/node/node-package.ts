/** What a folder with a package.json is: an app, a help for another one, or a library. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import { candidate, versionsOf } from '../draft.ts';
import { buildCommandOf } from './build-command.ts';
import { entryFile, listensIn } from './entry-file.ts';
import type { Framework } from './frameworks.ts';
import { healthPathOf } from './health-path.ts';
import { languageOf } from './language.ts';
import { installCommand } from './manager-commands.ts';
import { nodeVersionOf, runtimeVersion } from './node-version.ts';
import {
  contextOf,
  type FoundFrameworks,
  frameworksOf,
  type PackageContext,
  scriptCommands,
} from './package-context.ts';
import { portOf } from './port.ts';
import { processesOf, releaseCommandOf } from './processes.ts';
import { type Rendering, renderingOf } from './rendering.ts';
import { roleOf } from './role.ts';
import { sqliteVolumesOf } from './sqlite.ts';
import { type Start, startOf } from './start-command.ts';

export const nodePackageDetector: Detector = {
  name: 'node',
  detect(directory, repository) {
    const context = contextOf(repository, directory);
    return context ? [packageCandidate(context)] : [];
  },
};

function packageCandidate(context: PackageContext): Candidate {
  const { manifest, manager, directory, repository } = context;
  const found = frameworksOf(context);
  const scripted = startOf(context, undefined, undefined);
  const framework = chooseFramework(context, found, scripted);
  const planned = framework ? renderingOf(context, framework) : undefined;
  const start = startFor(context, framework, planned);
  // A server of its own hands out more than files.
  const isOwn = planned?.kind === 'static' && start !== undefined && !start.isServing;
  const rendering = isOwn ? ({ kind: 'server' } as const) : planned;
  const isStatic = rendering?.kind === 'static';
  const { role, score } = roleOf(context, framework, rendering, start);
  const build = buildCommandOf(context, framework, role !== 'library');
  return candidate(
    'node',
    directory.path,
    score,
    {
      name:
        manifest.name === undefined ? undefined : evidenced(manifest.name, certain, manifest.file, 'name'),
      language: languageOf(context),
      framework:
        framework && evidenced(framework.name, certain, manifest.file, whyFramework(context, framework)),
      packageManager: manager.told,
      versions: versionsOf({
        node: nodeVersionOf(repository, directory.path),
        bun: manager.name === 'bun' ? runtimeVersion(repository, directory.path, 'bun') : undefined,
        [manager.name]: managerVersion(context),
      }),
      installCommand: evidenced(
        installCommand(manager),
        certain,
        manager.told.source.file,
        manager.told.source.note,
      ),
      buildCommand: build,
      startCommand: start?.command,
      releaseCommand: isStatic ? undefined : releaseCommandOf(context),
      staticOutput: isStatic ? rendering.output : undefined,
      port: isStatic && !start ? undefined : portOf(context, framework, start),
      healthPath: isStatic ? undefined : healthPathOf(context),
      processes: processesOf(context),
      volumes: sqliteVolumesOf(context),
    },
    role,
  );
}

/**
 * A framework that renders goes first. A server beside a bundler is the app when it is what is started; the bundler
 * then only makes what it hands out.
 */
function chooseFramework(
  context: PackageContext,
  { whole, server, bundled }: FoundFrameworks,
  scripted: Start | undefined,
): Framework | undefined {
  if (whole) return whole;
  if (!server || !bundled) return server ?? bundled;
  if (bundled.name === 'angular' || bundled.name === 'expo' || !bundled.isBundler) return bundled;
  const entry = entryFile(context);
  const listens = entry !== undefined && listensIn(context, entry);
  return (scripted && !scripted.isServing && isOwnServer(context, scripted)) || listens ? server : bundled;
}

function isOwnServer(_context: PackageContext, { commands, command }: Start): boolean {
  return (
    commands.some(({ program }) =>
      /^(?:node|ts-node|tsx|bun|nest|pm2|pm2-runtime|deno|fastify)$/.test(program),
    ) || /^(?:node|bun|npx tsx)/.test(command.value)
  );
}

function startFor(
  context: PackageContext,
  framework: Framework | undefined,
  rendering: Rendering | undefined,
): Start | undefined {
  if (rendering?.kind !== 'static')
    return startOf(context, framework, rendering?.kind === 'server' ? rendering.start : undefined);
  // Files need no start of their own; one that hands them out is kept, since somebody wrote it.
  const commands = scriptCommands(context, 'start');
  const start = commands.length > 0 ? startOf(context, undefined, undefined) : undefined;
  return start?.command.value === undefined || start.commands.length === 0 ? undefined : start;
}

function whyFramework({ manifest }: PackageContext, { packages, name }: Framework): string {
  const dependency = packages.find(
    (each) => manifest.dependencies.has(each) || manifest.devDependencies.has(each),
  );
  return dependency === undefined ? `configuration of ${name}` : `depends on ${dependency}`;
}

function managerVersion({ manager }: PackageContext): Evidenced<string> | undefined {
  const { value, source } = manager.told;
  return value.version === null
    ? undefined
    : evidenced(value.version, conventional, source.file, source.note);
}
