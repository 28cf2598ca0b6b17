/**
 * Of which folder a file at the top of a repository really speaks: of the one its commands go into first, or the one
 * whose output or Dockerfile it names. Else of the folder it says itself.
 */
import { join, type Repository } from '../repository.ts';
import { takenFolder } from './commands.ts';
import { hasManifest } from './places.ts';

export type TargetCommands = Readonly<Record<'build' | 'start' | 'release', string | undefined>>;

export interface Target {
  readonly directory: string;
  /** How it lies under the folder that was said; `''` for itself. */
  readonly folder: string;
  readonly commands: TargetCommands;
}

interface Naming {
  readonly directory: string;
  readonly output?: unknown;
  readonly dockerfile?: string | undefined;
}

const none: TargetCommands = { build: undefined, start: undefined, release: undefined };

export function targetOf(repository: Repository, naming: Naming, commands: TargetCommands): Target {
  const { directory } = naming;
  const taken = folderTaken(commands);
  if (taken && repository.directory(join(directory, taken.folder)))
    return { directory: join(directory, taken.folder), ...taken };
  const below = projectOfOutput(repository, naming) ?? projectOfDockerfile(repository, naming);
  // The commands are run where the file is, mostly for the whole workspace; in the project's own folder they mean nothing.
  if (below !== undefined) return { directory: join(directory, below), folder: below, commands: none };
  return { directory, folder: '', commands };
}

/** Only where all commands go into the same folder. */
function folderTaken(commands: TargetCommands): { folder: string; commands: TargetCommands } | undefined {
  const said = Object.values(commands).flatMap((line) => (line === undefined ? [] : [takenFolder(line)]));
  const folder = said.find((each) => each)?.folder;
  if (folder === undefined || said.some((each) => each?.folder !== folder)) return undefined;
  const rest = (line: string | undefined) => (line === undefined ? undefined : takenFolder(line)?.rest);
  return {
    folder,
    commands: { build: rest(commands.build), start: rest(commands.start), release: rest(commands.release) },
  };
}

/** `apps/web/dist` is the output of the project in `apps/web`. */
function projectOfOutput(repository: Repository, { directory, output }: Naming): string | undefined {
  if (typeof output !== 'string' || output.length > 300 || output.includes('..')) return undefined;
  const parts = output.split('/').filter((part) => part !== '' && part !== '.');
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const folder = parts.slice(0, length).join('/');
    if (repository.has(join(join(directory, folder), 'package.json'))) return folder;
  }
  return undefined;
}

function projectOfDockerfile(repository: Repository, { directory, dockerfile }: Naming): string | undefined {
  const end = dockerfile?.lastIndexOf('/') ?? -1;
  const folder = end > 0 ? (dockerfile?.slice(0, end) ?? '') : '';
  const prefix = directory === '' ? '' : `${directory}/`;
  if (folder === '' || folder === directory || !folder.startsWith(prefix)) return undefined;
  return hasManifest(repository, folder) ? folder.slice(prefix.length) : undefined;
}
