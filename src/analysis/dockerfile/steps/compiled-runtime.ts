/** The last stage of compiled programs: a small Debian, certificates, the programs, and what they may read. */

import type { Document, Stage } from '../document.ts';
import { type Request, writtenFolders } from '../request.ts';
import { plainWords } from '../text/command-line.ts';
import { isPlainPath } from '../text/grammar.ts';

const certificates = '/etc/ssl/certs/ca-certificates.crt';

export interface CompiledRuntime {
  readonly image: string;
  readonly why: string;
  readonly libraries?: readonly string[];
  readonly port: number;
  readonly argv: readonly string[];
  readonly fill: (stage: Stage) => void;
}

export function addCompiledRuntime(document: Document, request: Request, runtime: CompiledRuntime): number {
  const stage = document.runtime(runtime.image, runtime.why);
  const libraries = [...request.systemPackages, ...(runtime.libraries ?? [])];
  stage.systemPackages(libraries, 'Libraries that the program loads');
  stage.user(writtenFolders(request, '/app'));
  stage.workdir('/app');
  stage.copy([certificates], certificates, 'To trust the servers that the app calls', ['--from=build']);
  runtime.fill(stage);
  stage.env({ PORT: runtime.port });
  return stage.process({
    port: runtime.port,
    healthCheck: 'bash',
    argv: runtime.argv,
    why: 'The program itself is the first process, so that it gets SIGTERM',
  });
}

/** Files that are started, of the web process and of others, from the app's folder; `null` where that is not clear. */
export function programsOf(request: Request, start: string): readonly string[] | null {
  const programs = [start, ...request.otherCommands].map((command) => {
    // Variables in arguments do not hide which file it is.
    const words = plainWords(command.replaceAll(/\$\{?\w+\}?/g, 'x'));
    const word = words?.find((each) => each !== 'env' && !/^[A-Za-z_]\w*=/.test(each));
    const path = word?.replace(/^\.\//, '') ?? '';
    const isOfApp = word?.includes('/') && !word.startsWith('/');
    return isOfApp && isPlainPath(path) ? path : null;
  });
  const known = programs.filter((program) => program !== null);
  return known.length === programs.length ? [...new Set(known)] : null;
}

/**
 * Folders right in the app's that hold no source of the language: templates, pages, migrations. They may be read while
 * the program runs, so they come along.
 */
export function addData(stage: Stage, request: Request, home: string, endings: readonly string[]): void {
  for (const folder of dataFolders(request, endings)) {
    const from = ['--from=build', '--chown=10001:10001'];
    const why = 'There is no source in it: the program may read it while it runs';
    stage.copy([`${home}/${folder}/`], `./${folder}/`, why, from);
  }
}

function dataFolders(request: Request, endings: readonly string[]): string[] {
  const { files, directory } = request;
  const skipped =
    /^(\.|node_modules$|vendor$|target$|docs?$|tests?$|testdata$|scripts?$|examples?$|benches$|src$)/;
  const withSource = new Set<string>();
  const prefix = directory === '' ? '' : `${directory}/`;
  for (const { path } of files.entries) {
    const isSource = endings.some((ending) => path.endsWith(ending));
    if (isSource && path.startsWith(prefix)) withSource.add(path.slice(prefix.length).split('/')[0] ?? '');
  }
  return [...(files.directory(directory)?.folders ?? [])]
    .filter((name) => !skipped.test(name) && !withSource.has(name) && isPlainPath(name))
    .sort();
}
