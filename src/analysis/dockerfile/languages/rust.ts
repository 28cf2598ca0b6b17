/**
 * Rust: compiled in Debian 12's image and run on the same Debian, so that the C library is the same. Cargo wants all
 * sources to fetch dependencies, so not a layer but the caches keep downloads and what was compiled.
 */

import { asObjects, stringAt } from '../../readers/shape.ts';
import { join } from '../../repository.ts';
import type { Cache, Document } from '../document.ts';
import { folderSource, type Request } from '../request.ts';
import { compiledBase, imageVersionOf } from '../steps/base-images.ts';
import { addCompiledRuntime, addData, programsOf } from '../steps/compiled-runtime.ts';
import { addStaticOutput } from '../steps/web-server.ts';
import { startForm } from '../text/command-line.ts';
import { wrong } from '../text/grammar.ts';

const downloads: readonly Cache[] = [
  { id: 'cargo-registry', target: '/usr/local/cargo/registry' },
  { id: 'cargo-git', target: '/usr/local/cargo/git' },
];
const compiled: Cache = { id: 'cargo-target', target: '/app/target', locked: true };

/** Crates that link to a library of the system, and the package of Debian 12 that has it. */
const linked: readonly (readonly [crate: string, library: string])[] = [
  ['openssl-sys', 'libssl3'],
  ['pq-sys', 'libpq5'],
  ['mysqlclient-sys', 'libmariadb3'],
];

export function rustDockerfile(document: Document, request: Request): number {
  const { version, why } = imageVersionOf(request, 'rust');
  const { files, directory, monorepo } = request;
  const isMember = monorepo?.kind === 'cargo' && directory !== '';
  const root = isMember ? '' : directory;
  const lock = files.text(join(root, 'Cargo.lock')) ?? '';
  const libraries = linked
    .filter(([crate]) => lock.includes(`name = "${crate}"`))
    .map(([, library]) => library);
  const isLinked = libraries.length > 0;
  const stage = document.stage(
    'build',
    isLinked ? `rust:${version}-bookworm` : `rust:${version}-slim-bookworm`,
    isLinked ? `${why}; the full image has the libraries that crates link to` : why,
  );
  stage.systemPackages();
  stage.workdir('/app');
  stage.copy(
    [folderSource(root)],
    './',
    'Cargo needs the sources even to fetch; the caches below keep what was fetched and compiled',
  );
  stage.arguments('build');
  if (request.staticOutput) {
    const tool = /^trunk\b/.test(request.buildCommand ?? '') ? trunk : '';
    const build = `${tool}${request.buildCommand ?? 'true'}`;
    stage.run(build, 'Makes the pages', downloads);
    return addStaticOutput(document, request, request.staticOutput, '/app');
  }
  const start = startOf(request);
  const programs = programsOf(request, start)?.filter((program) => /^target\/release\/[\w-]+$/.test(program));
  if (programs === undefined || programs.length === 0) {
    throw wrong(
      'startCommand',
      'Nothing says which program this builds.',
      'Set a start command, as in "./target/release/server".',
    );
  }
  const build = request.buildCommand ?? `cargo build --release${lock === '' ? '' : ' --locked'}`;
  const out = `mkdir -p /out/target/release && cp ${programs.join(' ')} /out/target/release/`;
  stage.run(`${build} && ${out}`, 'Programs are copied out of the cache, which is no part of a layer', [
    ...downloads,
    compiled,
  ]);
  return addCompiledRuntime(document, request, {
    image: compiledBase,
    why: 'Only the program, on the Debian that it was compiled on',
    libraries,
    port: request.port ?? 8080,
    argv: startForm(start).argv,
    fill: (runtime) => {
      runtime.copy(['/out/'], './', undefined, ['--from=build']);
      addData(runtime, request, isMember ? `/app/${directory}` : '/app', ['.rs', 'Cargo.toml']);
    },
  });
}

const trunk = 'rustup target add wasm32-unknown-unknown && cargo install --locked trunk && ';

/** `cargo run` would need the compiler in the image. */
function startOf(request: Request): string {
  const given = request.startCommand;
  if (given !== null && !given.startsWith('cargo run')) return given;
  const named = /--bin[ =]([A-Za-z0-9_-]+)/.exec(given ?? '')?.[1];
  const manifest = request.project.toml('Cargo.toml');
  const name =
    named ??
    stringAt(manifest, 'package', 'default-run') ??
    stringAt(asObjects(manifest?.bin)[0], 'name') ??
    stringAt(manifest, 'package', 'name') ??
    '';
  const rest = / -- (.*)$/.exec(given ?? '')?.[1];
  return `./target/release/${name}${rest === undefined ? '' : ` ${rest}`}`;
}
