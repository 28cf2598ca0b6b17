/**
 * Languages with one or two build tools, as rows of a table: the files by which one is known, the image it is built and
 * run in, its frameworks, its commands. `detectorOf` finds a row in a directory; `dockerfile/other.ts` writes what the
 * row says about images. A language without an image has no row: what cannot be built is not detected either.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import type { StaticOutput } from '../../result.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode, usualPort } from '../code-port.ts';
import { candidate, manager, staticSite, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';

/** By the word that means it: its port, and its name where that is another word. */
export type Frameworks = Readonly<
  Record<string, number | null | readonly [name: string, port: number | null]>
>;

export interface LanguageFramework {
  readonly name: string;
  readonly port: number | null;
}

interface Commands {
  readonly install?: string | undefined;
  readonly build?: string | undefined;
  /** Without one, and without an output, it is a library. */
  readonly start?: string | undefined;
}

/** What is read from the files of one project. */
export interface ProjectFacts extends Commands {
  readonly name?: string | undefined;
  readonly language?: string;
  /** The file that shows it, where it is not the first marker. */
  readonly file?: string;
  /** `null`: it has none, whatever the row says. */
  readonly manager?: readonly [name: string, source: string] | null;
  readonly lockFile?: string | undefined;
  readonly versions?: Readonly<Record<string, Evidenced<string> | undefined>>;
  readonly framework?: LanguageFramework | undefined;
  readonly output?: StaticOutput | undefined;
  readonly score?: number;
}

export interface Language extends Commands {
  readonly language: string;
  /** Where two tools of a language need two images: the package manager or framework that needs this one. */
  readonly variant?: string;
  /** `{version}` is what the repository asks for, else `imageVersion`. */
  readonly image: string;
  readonly imageVersion?: string;
  /** Key in `versions`, where it is not the language. */
  readonly versionKey?: string;
  /** Debian packages that the image lacks. */
  readonly packages?: readonly string[];
  /** Its tools install into folders of the system. */
  readonly asRoot?: boolean;
  /** Names of files, and endings as in `*.cabal`. Without any, `read` looks for itself. */
  readonly markers?: readonly string[];
  /** Of its sources, which are searched for ports and health paths. */
  readonly endings?: readonly string[];
  readonly frameworks?: Frameworks;
  /** Where a framework is named, beside the marker. */
  readonly manifests?: (project: Project) => readonly (string | undefined)[];
  readonly manager?: string;
  readonly lockFile?: string;
  /** Tools whose version managers' files are read. */
  readonly tools?: readonly string[];
  /** Without it the row is only there for its image. */
  readonly read?: (
    project: Project,
    file: string,
    framework: LanguageFramework | undefined,
  ) => ProjectFacts | undefined;
}

/** The first of the rows that fits counts: they are of one language. */
export function detectorOf(...rows: readonly Language[]): Detector {
  return {
    name: rows[0]?.language ?? '',
    detect(project) {
      for (const row of rows) {
        const found = detect(project, row);
        if (found) return [found];
      }
      return [];
    },
  };
}

function detect(project: Project, row: Language): Candidate | undefined {
  const marker = row.markers ? markerIn(project, row.markers) : '';
  if (marker === undefined || !row.read) return undefined;
  const named = row.manifests?.(project) ?? [marker];
  const manifests = named.filter((file) => file !== undefined);
  const framework = frameworkIn(project, manifests, row.frameworks ?? {});
  const facts = row.read(project, marker, framework);
  return facts && describe(project, row, marker, { framework, ...facts });
}

function markerIn(project: Project, markers: readonly string[]): string | undefined {
  for (const marker of markers) {
    if (!marker.startsWith('*')) {
      if (project.files.has(marker)) return project.at(marker);
    } else if (project.endings.has(marker.slice(2))) return project.withEnding(marker.slice(1))[0];
  }
  return undefined;
}

function describe(project: Project, row: Language, marker: string, facts: ProjectFacts): Candidate {
  const { file = marker, language = row.language, framework, output } = facts;
  const { repository } = project;
  const sources = project.sources(row.endings ?? []);
  const commands = { install: row.install, build: row.build, start: row.start, ...facts };
  const say = <T>(value: T | undefined) =>
    value === undefined ? undefined : evidenced(value, conventional, file, language);
  const [tool, source] =
    facts.manager === undefined && row.manager !== undefined ? [row.manager, file] : (facts.manager ?? []);
  const lockFile = facts.lockFile ?? (row.lockFile === undefined ? undefined : project.first(row.lockFile));
  const isApp = output !== undefined || commands.start !== undefined;
  const process = {
    startCommand: say(commands.start),
    port: portInCode(repository, sources) ?? usualPort(framework, file),
    healthPath: healthInCode(repository, sources),
    ...sqliteVolumes(project, sources),
  };
  const draft = {
    name:
      facts.name === undefined ? undefined : evidenced(facts.name, certain, file, facts.name.slice(0, 60)),
    language: evidenced(language, certain, file, language),
    framework: framework && evidenced(framework.name, certain, file, framework.name),
    packageManager: tool === undefined ? undefined : manager(tool, lockFile, source ?? file),
    versions: versionsOf({
      ...Object.fromEntries(
        (row.tools ?? []).map((each) => [each.toLowerCase(), toolVersion(project, each)]),
      ),
      ...facts.versions,
    }),
    installCommand: say(commands.install),
    buildCommand: say(commands.build),
    ...(output === undefined ? process : staticSite(output, file, language)),
  };
  const score = facts.score ?? (isApp ? (framework ? 0.9 : 0.7) : 0.3);
  return candidate(language, project.path, score, draft, isApp ? 'app' : 'library');
}

/** The first framework that a line of the files names. */
function frameworkIn(
  project: Project,
  files: readonly string[],
  all: Frameworks,
): LanguageFramework | undefined {
  return frameworkNamed(all, (word) => {
    const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const form = new RegExp(`(?:^|[^\\w-])${escaped}(?:[^\\w-]|$)`, 'i');
    return project.repository.find(files, form) !== undefined;
  });
}

export function frameworkNamed(
  all: Frameworks,
  isNamed: (word: string) => boolean,
): LanguageFramework | undefined {
  const found = Object.entries(all).find(([word]) => isNamed(word));
  if (!found) return undefined;
  const [word, meaning] = found;
  const [name, port] = typeof meaning === 'object' && meaning !== null ? meaning : [word, meaning];
  return { name, port };
}
