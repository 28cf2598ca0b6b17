/**
 * Go: static programs on a small Debian. Without cgo, unless a module needs it; then both stages are of the same
 * Debian, as the program loads its C library.
 */
import { join } from '../../repository.ts';
import type { Cache, Document, Stage } from '../document.ts';
import { folderSource, ownInstall, type Request } from '../request.ts';
import { compiledBase, imageVersionOf, smallBase } from '../steps/base-images.ts';
import { addCompiledRuntime, addData, programsOf } from '../steps/compiled-runtime.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { plainWords, startForm } from '../text/command-line.ts';
import { isPlainPath } from '../text/grammar.ts';

const caches: readonly Cache[] = [
  { id: 'go-modules', target: '/go/pkg/mod' },
  { id: 'go-build', target: '/root/.cache/go-build' },
];
const cgoModules =
  /github\.com\/(mattn\/go-sqlite3|confluentinc\/confluent-kafka-go|h2non\/bimg|davidbyttow\/govips)\b/;

export function goDockerfile(document: Document, request: Request): number {
  const { version, why } = imageVersionOf(request, 'go', 2);
  const needsCgo = cgoModules.test(request.project.text('go.mod') ?? '');
  const stage = document.stage('build', needsCgo ? `golang:${version}-bookworm` : `golang:${version}`, why);
  stage.systemPackages();
  stage.workdir('/app');
  stage.env(
    { CGO_ENABLED: needsCgo ? 1 : 0 },
    needsCgo ? 'A module needs C' : 'Without C the program is one file that needs nothing',
  );
  stage.arguments('install');
  const home = addSources(stage, request);
  stage.arguments('build');
  const { build, start } = commandsOf(request);
  stage.run(build, 'Built with what earlier builds have compiled', caches);
  if (request.staticOutput) return addStaticOutput(document, request, request.staticOutput, home);
  const programs = programsOf(request, start);
  return addCompiledRuntime(document, request, {
    image: needsCgo ? compiledBase : smallBase,
    why: 'Only the program, on a base that has a shell for the health check and little else',
    port: request.port ?? 8080,
    argv: startForm(start).argv,
    fill: (runtime) => {
      for (const program of programs ?? []) {
        runtime.copy([`${home}/${program}`], `./${program}`, undefined, ['--from=build']);
      }
      if (programs === null) {
        const why = 'The start command is not that of one program, so everything comes along';
        runtime.copy([`${home}/`], './', why, ['--from=build', '--chown=10001:10001']);
      } else addData(runtime, request, home, ['.go']);
    },
  });
}

/** Copies manifests, fetches, copies the rest; answers where the app lies in the stage. */
function addSources(stage: Stage, request: Request): string {
  const { files, directory, monorepo } = request;
  const isMember = monorepo?.kind === 'go' && directory !== '' && files.has('go.work');
  const root = isMember ? '' : directory;
  const home = isMember ? `/app/${directory}` : '/app';
  const members = (isMember ? monorepo.members : ['.']).map((each) => (each === '.' ? '' : each));
  const at = (folder: string, names: readonly string[]) =>
    names.map((name) => join(join(root, folder), name)).filter((path) => files.has(path));
  if (isMember) stage.copy(at('', ['go.work', 'go.work.sum']), './');
  let why: string | undefined = 'Manifests only: the next step stays cached while they do not change';
  for (const folder of members.filter((each) => each === '' || isPlainPath(each))) {
    const manifests = at(folder, ['go.mod', 'go.sum']);
    if (manifests.length === 0) continue;
    stage.copy(manifests, folder === '' ? './' : `./${folder}/`, why);
    why = undefined;
  }
  const isFetched = why === undefined && !files.directories.has(join(root, 'vendor'));
  if (isFetched || request.isSet('installCommand')) {
    if (isMember) stage.workdir(home);
    const install = ownInstall(request, 'go mod download');
    stage.run(install, 'Downloads are kept between builds', caches);
    if (isMember) stage.workdir('/app');
  }
  stage.copy([folderSource(root)], './');
  if (isMember) stage.workdir(home);
  return home;
}

/** `go run` would need the compiler in the image; it is a build and a start in one. */
function commandsOf(request: Request): { build: string; start: string } {
  const build = request.buildCommand ?? 'go build -ldflags=-s -o out .';
  const start = request.startCommand ?? './out';
  const words = plainWords(start);
  if (words?.[0] !== 'go' || words[1] !== 'run' || request.isSet('startCommand')) return { build, start };
  const target = words[2] ?? '.';
  if (!isPlainPath(target) || target.includes(' ')) return { build, start };
  const place = target.endsWith('.go') || target.startsWith('.') ? target : `./${target}`;
  const rest = start.slice(start.indexOf(target) + target.length);
  return { build: `go build -ldflags=-s -o out ${place}`, start: `./out${rest}` };
}
