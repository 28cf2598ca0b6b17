/** Rust: packages of Cargo with a binary. A package with none is a library; a virtual workspace is no app itself. */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { isParsed, join, type Parsed, parentOf, type Repository } from '../../repository.ts';
import { findIn, findInAny, ownSources } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, manager, versionsOf, worker } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { toolVersion } from '../tool-versions.ts';
import { binariesOf, chooseBinary, isBackground } from './rust-binaries.ts';
import { type RustFramework, rustFramework } from './rust-frameworks.ts';

export const rust: Detector = {
  name: 'rust',
  detect({ path, files }, repository) {
    if (!files.has('Cargo.toml')) return [];
    const file = join(path, 'Cargo.toml');
    const manifest = repository.toml(file);
    const found = manifest?.package;
    return manifest && isParsed(found) ? [describe(repository, path, file, manifest, found)] : [];
  },
};

function describe(
  repository: Repository,
  directory: string,
  file: string,
  manifest: Parsed,
  found: Parsed,
): Candidate {
  const name = typeof found.name === 'string' ? found.name : 'app';
  const sources = ownSources(repository, directory, ['.rs'], ['Cargo.toml']);
  const framework = rustFramework(repository, directory, manifest, found);
  const binaries = binariesOf(repository, directory, manifest, name);
  const binary = chooseBinary(binaries, found['default-run'], name);
  const toolchain = toolVersion(repository, directory, 'rust');
  const isWebPage = framework?.output !== undefined;
  const port = isWebPage ? undefined : rustPort(repository, directory, framework, sources, manifest);
  const draft = {
    name: evidenced(name, certain, file, `package ${name.slice(0, 60)}`),
    language: evidenced('rust', certain, file, 'Cargo package'),
    framework: framework && evidenced(framework.name, certain, file, framework.crate),
    packageManager: manager('cargo', repository.upwards(directory, ['Cargo.lock']), file),
    versions: versionsOf({ rust: toolchain?.value === 'stable' ? undefined : toolchain }),
    installCommand: evidenced('cargo fetch', conventional, file, 'Cargo'),
    buildCommand: evidenced(
      framework?.build?.(name) ?? cargoBuild(repository, directory, name),
      conventional,
      file,
      'Cargo',
    ),
    startCommand: isWebPage
      ? evidenced(null, conventional, file, 'served as files')
      : start(repository, directory, file, framework, binary),
    staticOutput:
      framework?.output &&
      evidenced(
        { directory: framework.output(name), isSinglePage: true },
        conventional,
        file,
        framework.name,
      ),
    port,
    healthPath: isWebPage ? undefined : healthInCode(repository, sources),
    processes: binaries
      .filter((each) => each !== binary && isBackground(each))
      .map((each) => worker(each, `./target/release/${each}`, file, 'a binary')),
    volumes: isWebPage ? [] : sqliteVolumes(repository, directory, sources),
  };
  const isApp = isWebPage || binary !== undefined;
  return candidate(
    'rust',
    directory,
    isApp ? (framework ? 0.9 : 0.8) : 0.3,
    draft,
    isApp ? 'app' : 'library',
  );
}

function start(
  repository: Repository,
  directory: string,
  file: string,
  framework: RustFramework | undefined,
  binary: string | undefined,
): Evidenced<string> | undefined {
  if (binary === undefined) return undefined;
  const own = framework?.start?.(binary);
  if (own !== undefined) return evidenced(own, conventional, file, framework?.name ?? binary);
  const path = `./target/release/${binary}`;
  // Rocket listens on this machine only, unless it is told otherwise.
  const config = repository.firstOf(directory, ['Rocket.toml']);
  const isOpen =
    config !== undefined &&
    findIn(repository, config, /^\s*address\s*=\s*["'](?:0\.0\.0\.0|::)/) !== undefined;
  const before =
    framework?.name === 'rocket' ? `${isOpen ? '' : 'ROCKET_ADDRESS=0.0.0.0 '}ROCKET_PORT=$PORT ` : '';
  return evidenced(`${before}${path}`, certain, file, `binary ${binary.slice(0, 60)}`);
}

/** In a workspace only this package is built. */
function cargoBuild(repository: Repository, directory: string, name: string): string {
  for (let at = parentOf(directory); at !== undefined; at = parentOf(at)) {
    const above = join(at, 'Cargo.toml');
    if (repository.has(above) && isParsed(repository.toml(above)?.workspace))
      return `cargo build --release --package ${name}`;
  }
  return 'cargo build --release';
}

function rustPort(
  repository: Repository,
  directory: string,
  framework: RustFramework | undefined,
  sources: readonly string[],
  manifest: Parsed,
): Evidenced<number | null> {
  const file = join(directory, 'Cargo.toml');
  const configs = [
    'Rocket.toml',
    'config/default.toml',
    'config/production.yaml',
    'config/development.yaml',
    'configuration.yaml',
  ]
    .map((name) => join(directory, name))
    .filter((path) => repository.has(path));
  const site = JSON.stringify(manifest)
    .slice(0, 20_000)
    .match(/"site-addr":"[^"]{0,40}:(\d{2,5})"/)?.[1];
  if (site !== undefined) return evidenced(Number(site), certain, file, 'site-addr');
  const config = framework?.name === 'rocket' || framework?.name === 'loco' ? configs : [];
  const port =
    portInCode(repository, config) ?? portInCode(repository, sources) ?? portInCode(repository, configs);
  if (port) return port;
  const listens = framework ?? findInAny(repository, sources, /TcpListener::bind|\.serve\(/);
  return evidenced(
    framework?.port ?? (listens ? 8080 : null),
    framework ? conventional : guessed,
    file,
    framework?.name ?? 'no port in the code',
  );
}
