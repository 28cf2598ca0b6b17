/** What a folder with a package.json is: an app, a help for another one, or a library. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, evidenced } from '../../evidence.ts';
import { candidate, versionsOf } from '../draft.ts';
import { noVolumes, sqliteVolumes, type Volumes } from '../sqlite-volumes.ts';
import { buildCommandOf } from './commands/build-command.ts';
import { processesOf, releaseCommandOf } from './commands/processes.ts';
import { type Start, startOf } from './commands/start-command.ts';
import { chooseFramework } from './frameworks/choose-framework.ts';
import { configuredFolder } from './frameworks/config-value.ts';
import type { NodeFramework, Rendering } from './frameworks/framework.ts';
import { renderingOf, runsFramework } from './frameworks/rendering.ts';
import { healthPathOf } from './health-path.ts';
import { nodeLanguage } from './language.ts';
import { NodePackage } from './node-package.ts';
import { installCommand } from './package-manager/manager-commands.ts';
import { nodeVersionOf, runtimeVersion } from './package-manager/node-version.ts';
import { nodePort } from './port.ts';
import { roleOf } from './role.ts';

export const packageDetector: Detector = {
  name: 'node',
  detect(project) {
    const package_ = NodePackage.in(project);
    return package_ ? [describe(package_)] : [];
  },
};

function describe(package_: NodePackage): Candidate {
  const { manifest, manager } = package_;
  const { evidence } = manager;
  const framework = chooseFramework(package_);
  const planned = framework ? renderingOf(package_, framework) : undefined;
  const start = startFor(package_, framework, planned);
  // A server of its own hands out more than files.
  const isOwn = planned?.kind === 'static' && start !== undefined && !start.isServing;
  const rendering = isOwn ? ({ kind: 'server' } as const) : planned;
  const isStatic = rendering?.kind === 'static';
  const { role, score } = roleOf(package_, framework, rendering, start);
  const kept = volumesOf(package_);
  const draft = {
    name: manifest.name === undefined ? undefined : evidenced(manifest.name, certain, manifest.file, 'name'),
    language: nodeLanguage(package_, manifest),
    framework:
      framework && evidenced(framework.name, certain, manifest.file, whyFramework(package_, framework)),
    packageManager: evidence,
    versions: versionsOf({
      node: nodeVersionOf(package_),
      bun: manager.name === 'bun' ? runtimeVersion(package_, 'bun') : undefined,
      [manager.name]:
        evidence.value.version === null
          ? undefined
          : { ...evidence, value: evidence.value.version, certainty: conventional },
    }),
    installCommand: { ...evidence, value: installCommand(manager), certainty: certain },
    buildCommand: buildCommandOf(package_, framework, role !== 'library'),
    startCommand: start?.command,
    releaseCommand: isStatic ? undefined : releaseCommandOf(package_),
    staticOutput: isStatic ? rendering.output : undefined,
    port: isStatic && !start ? undefined : nodePort(package_, framework, start),
    healthPath: isStatic ? undefined : healthPathOf(package_, framework),
    processes: processesOf(package_),
    volumes: kept.volumes,
    warnings: [...manager.warnings, ...(planned?.warnings ?? []), ...kept.warnings],
  };
  return candidate('node', package_.path, score, draft, role);
}

function startFor(
  package_: NodePackage,
  framework: NodeFramework | undefined,
  rendering: Rendering | undefined,
): Start | undefined {
  if (rendering?.kind !== 'static') return startOf(package_, framework, rendering?.start);
  // Files need no start of their own; one that hands them out is kept, since somebody wrote it.
  const start = package_.commands('start').length > 0 ? startOf(package_) : undefined;
  if (!start?.commands.length) return undefined;
  // Generators write it for every app; after an export it finds no server.
  const isLeftOver =
    !start.isServing && start.commands.some((each) => framework && runsFramework(framework, each));
  return isLeftOver ? undefined : start;
}

function whyFramework(package_: NodePackage, { packages, name }: NodeFramework): string {
  const dependency = packages.find((each) => package_.dependsOn(each));
  return dependency === undefined ? `configuration of ${name}` : `depends on ${dependency}`;
}

const sqliteDrivers = ['better-sqlite3', 'sqlite3', 'sqlite', '@libsql/client', 'sql.js'];
const searched = ['.ts', '.js', '.mjs', '.cjs', '.env.example', '.env'];

/** Folders in which it keeps an SQLite file. */
function volumesOf(package_: NodePackage): Volumes {
  const { manifest, repository, path } = package_;
  const schema = package_.text('prisma/schema.prisma')?.slice(0, 20_000) ?? '';
  const isPrisma = /provider\s*=\s*"sqlite"/.test(schema);
  // Prisma counts from the folder of its schema.
  const folder = configuredFolder(/url\s*=\s*"file:(?:\.\/)?([\w./-]{1,200})\/[\w.-]+"/.exec(schema)?.[1]);
  if (isPrisma && folder !== undefined)
    return {
      volumes: [
        evidenced(`prisma/${folder}`, certain, package_.at('prisma/schema.prisma'), 'SQLite lies there'),
      ],
      warnings: [],
    };
  if (!isPrisma && !sqliteDrivers.some((name) => manifest.dependencies.has(name))) return noVolumes;
  return sqliteVolumes(package_, [...repository.filesUnder(path, searched)].slice(0, 200));
}
