/**
 * Other languages: their official image, and the commands that were told. What such a program needs while it runs is
 * not known, so there is one stage; the image is larger than it would have to be, and says so.
 */
import { addArguments, addRun, addSystemPackages, addUser } from './build-steps.ts';
import { startForm } from './command-line.ts';
import type { Document } from './document.ts';
import { copy, wrong } from './grammar.ts';
import { addHealthCheck } from './health-check.ts';
import { type Request, writtenFolders } from './request.ts';
import { addStaticOutput } from './web-server.ts';

interface Base {
  readonly image: (version: string) => string;
  readonly version: string;
  /** Key in `versions`, where it is not the language. */
  readonly key?: string;
  readonly packages?: readonly string[];
  /** Its tools install into folders of the system. */
  readonly asRoot?: boolean;
}

const bases: Readonly<Record<string, Base>> = {
  c: {
    image: () => 'debian:trixie-slim',
    version: '',
    packages: ['build-essential', 'cmake', 'meson', 'ninja-build', 'pkg-config'],
  },
  cobol: { image: () => 'debian:trixie-slim', version: '', packages: ['gnucobol4'] },
  cpp: {
    image: () => 'debian:trixie-slim',
    version: '',
    packages: ['build-essential', 'cmake', 'meson', 'ninja-build', 'pkg-config'],
  },
  clojure: { image: (version) => `clojure:temurin-${version}-tools-deps`, version: '21', key: 'java' },
  crystal: { image: (version) => `crystallang/crystal:${version}`, version: '1' },
  dart: { image: (version) => `dart:${version}`, version: 'stable' },
  'clojure lein': { image: (version) => `clojure:temurin-${version}-lein`, version: '21', key: 'java' },
  'dart flutter': { image: () => 'ghcr.io/cirruslabs/flutter:stable', version: '' },
  erlang: { image: (version) => `erlang:${version}`, version: '27' },
  haskell: { image: (version) => `haskell:${version}`, version: '9' },
  java: { image: (version) => `eclipse-temurin:${version}-jdk`, version: '21' },
  julia: { image: (version) => `julia:${version}`, version: '1' },
  kotlin: { image: (version) => `eclipse-temurin:${version}-jdk`, version: '21', key: 'java' },
  lua: { image: () => 'debian:trixie-slim', version: '', packages: ['lua5.4', 'luarocks'], asRoot: true },
  perl: { image: (version) => `perl:${version}`, version: '5', asRoot: true },
  r: { image: (version) => `r-base:${version}`, version: '4.4.2', asRoot: true },
  scheme: { image: () => 'debian:trixie-slim', version: '', packages: ['guile-3.0', 'chicken-bin'] },
  shell: { image: () => 'debian:trixie-slim', version: '', packages: ['ca-certificates', 'curl'] },
  swift: { image: (version) => `swift:${version}`, version: '6.0' },
};

export function genericDockerfile(document: Document, request: Request): number {
  const { language, framework, packageManager } = request.app;
  const names = [`${language} ${packageManager?.name}`, `${language} ${framework}`, language];
  const name = names.find((each) => Object.hasOwn(bases, each));
  const base = name === undefined ? undefined : bases[name];
  if (!base) {
    throw wrong(
      'language',
      `There is no base image for ${JSON.stringify(language.slice(0, 60))} that Slipway could start from.`,
      'Add a Dockerfile to the repository.',
    );
  }
  const asked = request.versions[base.key ?? language] ?? '';
  const version = /^\d+(\.\d+){0,2}$/.test(asked) ? asked : base.version;
  const isStatic = request.staticOutput !== null;
  const why =
    'The official image of the language; what the program needs while it runs is not known, so there is one stage';
  const stage = isStatic
    ? document.stage('build', base.image(version), why)
    : document.runtime(base.image(version), why);
  addSystemPackages(
    stage,
    [...request.systemPackages, ...(base.packages ?? [])],
    'The tools of the language, or what was asked for',
  );
  addUser(stage, writtenFolders(request, '/app'));
  stage.workdir('/app');
  const source = request.directory === '' ? '.' : `${request.directory}/`;
  stage.add(copy([source], './', ['--chown=10001:10001']));
  if (!base.asRoot) {
    stage.env({ HOME: '/home/app' });
    stage.add(
      'USER 10001:10001',
      'It is built by the user who runs it, so that both find the same downloads',
    );
  }
  addArguments(stage, request, 'build');
  if (request.installCommand !== null) {
    addRun(stage, request, request.installCommand, [], 'As the install command says');
  }
  if (request.buildCommand !== null) {
    addRun(stage, request, request.buildCommand, [], 'As the build command says');
  }
  if (request.staticOutput) return addStaticOutput(document, request, request.staticOutput, '/app');
  if (request.startCommand === null)
    throw wrong('startCommand', 'Nothing says how this app is started.', 'Set a start command.');
  const port = request.port ?? 8080;
  stage.env({ PORT: port });
  if (base.asRoot) stage.add('USER 10001:10001', 'A user without rights, by number');
  stage.add(`EXPOSE ${port}`);
  addHealthCheck(stage, request, 'bash');
  stage.command(
    startForm(request.startCommand).argv,
    'The program itself takes the place of the shell where that is possible, so that it gets SIGTERM',
  );
  return port;
}
