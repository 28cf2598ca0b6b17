/** What is the same in all languages that have few tools: a manifest, a framework among its lines, commands, a port. */
import type { Candidate } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import type { Repository } from '../../repository.ts';
import type { PackageManager } from '../../result.ts';
import { findIn, ownSources } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';

export interface PlainApp {
  readonly language: string;
  readonly directory: string;
  /** The manifest, or the source file that is all there is. */
  readonly file: string;
  readonly name?: string | undefined;
  readonly framework?: PlainFramework | undefined;
  readonly manager?: Evidenced<PackageManager> | undefined;
  readonly versions?: Readonly<Record<string, Evidenced<string> | undefined>>;
  readonly install?: string | undefined;
  readonly build?: string | undefined;
  readonly start?: string | undefined;
  readonly release?: string | undefined;
  readonly output?: { readonly directory: string; readonly isSinglePage: boolean } | undefined;
  /** Endings of its sources, which are asked for ports and health paths. */
  readonly endings: readonly string[];
  readonly score?: number;
}

export interface PlainFramework {
  readonly name: string;
  readonly port: number | null;
}

export function plainApp(repository: Repository, app: PlainApp): Candidate {
  const { file, directory, framework } = app;
  const sources = ownSources(repository, directory, app.endings);
  const say = <T>(value: T | undefined) =>
    value === undefined ? undefined : evidenced(value, conventional, file, app.language);
  const isPage = app.output !== undefined && app.start === undefined;
  const port = portInCode(repository, sources);
  const draft = {
    name: app.name === undefined ? undefined : evidenced(app.name, certain, file, app.name.slice(0, 60)),
    language: evidenced(app.language, certain, file, app.language),
    framework: framework && evidenced(framework.name, certain, file, framework.name),
    packageManager: app.manager,
    versions: versionsOf(app.versions ?? {}),
    installCommand: say(app.install),
    buildCommand: say(app.build),
    startCommand: isPage ? evidenced(null, conventional, file, 'served as files') : say(app.start),
    releaseCommand: say(app.release),
    staticOutput: say(app.output),
    port: isPage
      ? undefined
      : (port ??
        evidenced(framework?.port ?? null, framework ? conventional : guessed, file, 'no port in the code')),
    healthPath: isPage ? undefined : healthInCode(repository, sources),
    volumes: isPage ? [] : sqliteVolumes(repository, directory, sources),
  };
  const isApp = isPage || app.start !== undefined;
  const score = app.score ?? (isApp ? (framework ? 0.9 : 0.7) : 0.3);
  return candidate(app.language, directory, score, draft, isApp ? 'app' : 'library');
}

/** The first framework of which a line of the file speaks. */
export function frameworkIn(
  repository: Repository,
  files: readonly string[],
  all: Readonly<Record<string, readonly [name: string, port: number | null]>>,
): PlainFramework | undefined {
  for (const [mark, [name, port]] of Object.entries(all)) {
    const escaped = mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const form = new RegExp(`(?:^|[^\\w-])${escaped}(?:[^\\w-]|$)`, 'i');
    if (files.some((file) => findIn(repository, file, form))) return { name, port };
  }
  return undefined;
}
