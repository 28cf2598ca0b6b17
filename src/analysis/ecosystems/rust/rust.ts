/** Rust: packages of Cargo with a binary. A package with none is a library; a virtual workspace is no app itself. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { asObjects } from '../../readers/shape.ts';
import { isParsed, join, type Parsed, parentOf } from '../../repository.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode, usualPort } from '../code-port.ts';
import { candidate, manager, staticSite, versionsOf, worker } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { listedMembers, workspaceFinder } from '../workspace-members.ts';
import { type RustFramework, rustFramework } from './rust-frameworks.ts';

export const rust: Detector = {
  name: 'rust',
  detect(project) {
    const manifest = project.files.has('Cargo.toml') ? project.toml('Cargo.toml') : undefined;
    return manifest && isParsed(manifest.package) ? [describe(project, manifest, manifest.package)] : [];
  },
};

export const cargoWorkspace = workspaceFinder(
  'cargo',
  ['Cargo.toml'],
  '[workspace]',
  (repository, file, root) => listedMembers(repository, root, repository.toml(file)?.workspace, 'Cargo.toml'),
);

function describe(project: Project, manifest: Parsed, found: Parsed): Candidate {
  const file = project.at('Cargo.toml');
  const name = typeof found.name === 'string' ? found.name : 'app';
  const sources = project.sources(['.rs'], ['Cargo.toml']);
  const framework = rustFramework(project, manifest, name);
  const binaries = binariesOf(project, manifest, name);
  const binary = chooseBinary(binaries, found['default-run'], name);
  const toolchain = toolVersion(project, 'rust');
  const say = (command: string) => evidenced(command, conventional, file, 'Cargo');
  const process = () => ({
    startCommand: binary === undefined ? undefined : startOf(project, framework, binary),
    port: portOf(project, framework, sources, manifest),
    healthPath: healthInCode(project.repository, sources),
    ...sqliteVolumes(project, sources),
  });
  const draft = {
    name: evidenced(name, certain, file, `package ${name.slice(0, 60)}`),
    language: evidenced('rust', certain, file, 'Cargo package'),
    framework: framework && evidenced(framework.name, certain, file, framework.crate),
    packageManager: manager('cargo', project.upwards('Cargo.lock'), file),
    versions: versionsOf({ rust: toolchain?.value === 'stable' ? undefined : toolchain }),
    installCommand: say('cargo fetch'),
    buildCommand: say(framework?.build ?? cargoBuild(project, name)),
    processes: binaries
      .filter((each) => each !== binary && isBackground(each))
      .map((each) => worker(each, `./target/release/${each}`, file, 'a binary')),
    ...(framework?.output === undefined
      ? process()
      : staticSite({ directory: framework.output, isSinglePage: true }, file, framework.name)),
  };
  const isApp = framework?.output !== undefined || binary !== undefined;
  const score = isApp ? (framework ? 0.9 : 0.8) : 0.3;
  return candidate('rust', project.path, score, draft, isApp ? 'app' : 'library');
}

/** Which programs a package builds. */
function binariesOf(project: Project, manifest: Parsed, packageName: string): readonly string[] {
  const declared = asObjects(manifest.bin);
  const isFree = (path: string) => !declared.some((each) => each.path === path);
  const { files = [], folders = [] } = project.repository.directory(project.at('src/bin')) ?? {};
  const found = [
    ...(project.has('src/main.rs') && isFree('src/main.rs') ? [packageName] : []),
    ...declared.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])),
    ...[...files]
      .filter((file) => file.endsWith('.rs') && isFree(`src/bin/${file}`))
      .map((file) => file.slice(0, -3))
      .sort(),
    ...[...folders]
      .filter((name) => project.has(`src/bin/${name}/main.rs`) && isFree(`src/bin/${name}/main.rs`))
      .sort(),
  ];
  return [...new Set(found)].filter((name) => /^[\w.-]+$/.test(name));
}

function chooseBinary(all: readonly string[], wanted: unknown, packageName: string): string | undefined {
  return (
    all.find((name) => name === wanted) ??
    all.find((name) => name === packageName) ??
    all.find((name) => /^(?:.*[-_])?(?:server|api|web|http|app|service|main)$/.test(name)) ??
    all.find((name) => !isBackground(name)) ??
    all[0]
  );
}

function isBackground(name: string): boolean {
  return /^(?:.*[-_])?(?:workers?|consumer|scheduler|jobs?|queue|cron)$/.test(name);
}

function startOf(project: Project, framework: RustFramework | undefined, binary: string): Evidenced<string> {
  const file = project.at('Cargo.toml');
  if (framework?.start) return evidenced(framework.start(binary), conventional, file, framework.name);
  // Rocket listens on this machine only, unless its settings say otherwise.
  const isOpen = project.find('Rocket.toml', /^\s*address\s*=\s*["'](?:0\.0\.0\.0|::)/) !== undefined;
  const before =
    framework?.name === 'rocket' ? `${isOpen ? '' : 'ROCKET_ADDRESS=0.0.0.0 '}ROCKET_PORT=$PORT ` : '';
  return evidenced(`${before}./target/release/${binary}`, certain, file, `binary ${binary.slice(0, 60)}`);
}

/** In a workspace only this package is built. */
function cargoBuild({ repository, path }: Project, name: string): string {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    if (isParsed(repository.toml(join(at, 'Cargo.toml'))?.workspace))
      return `cargo build --release --package ${name}`;
  }
  return 'cargo build --release';
}

const configs = [
  'Rocket.toml',
  'config/default.toml',
  'config/production.yaml',
  'config/development.yaml',
  'configuration.yaml',
];

function portOf(
  project: Project,
  framework: RustFramework | undefined,
  sources: readonly string[],
  manifest: Parsed,
): Evidenced<number | null> {
  const { repository } = project;
  const file = project.at('Cargo.toml');
  const leptos = JSON.stringify(manifest)
    .slice(0, 20_000)
    .match(/"site-addr":"[^"]{0,40}:(\d{2,5})"/)?.[1];
  if (leptos !== undefined) return evidenced(Number(leptos), certain, file, 'site-addr');
  const settings = configs.map((name) => project.at(name));
  const isConfigured = framework?.name === 'rocket' || framework?.name === 'loco';
  const listens = framework ?? repository.find(sources, /TcpListener::bind|\.serve\(/);
  return (
    (isConfigured ? portInCode(repository, settings) : undefined) ??
    portInCode(repository, sources) ??
    portInCode(repository, settings) ??
    usualPort(framework, file, listens ? 8080 : null)
  );
}
