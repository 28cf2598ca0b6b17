/** Changes to a fixture after which the answer must be the same. */
import { frameworkNamed } from '../../src/analysis/ecosystems/node/frameworks/frameworks.ts';
import type { Fixture } from './fixtures.ts';

export type Files = Readonly<Record<string, string>>;

export interface Mutated {
  readonly files: Files;
  readonly rootDirectory?: string;
  /** The folder of the app, where it is not the root directory. */
  readonly seenFrom?: string;
}

export interface Mutation extends Mutated {
  readonly name: string;
  readonly about: string;
  /** `undefined` where it would change the meaning of this one. */
  readonly make: (fixture: Fixture) => Mutated | undefined;
}

type Manifest = Readonly<Record<string, unknown>>;

export const mutations: readonly Pick<Mutation, 'name' | 'about' | 'make'>[] = [
  {
    name: 'harmless files',
    about: 'notes, settings of an editor and a picture beside the app',
    make: ({ files }) => ({
      files: {
        ...files,
        'NOTES.md': '# Notes\n\nRun `node other.js` on port 9999.\n',
        '.editorconfig': 'root = true\n',
        LICENSE: 'Permission is hereby granted\n',
        'docs/diagram.svg': '<svg/>',
        '.github/workflows/ci.yml': 'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: []\n',
      },
    }),
  },
  {
    name: 'an unrelated dependency',
    about: 'libraries that do not listen, build or store anything',
    make: (fixture) =>
      withManifests(fixture, (manifest) => ({
        ...manifest,
        dependencies: { ...Object(manifest.dependencies), 'date-fns': '^4.1.0', slugify: '^1.6.6' },
        devDependencies: { ...Object(manifest.devDependencies), 'lint-staged': '^16.0.0', husky: '^9.0.0' },
      })),
  },
  {
    name: 'a script nobody uses',
    about: 'scripts that check, tidy and release',
    make: (fixture) =>
      withManifests(fixture, (manifest) => ({
        ...manifest,
        scripts: {
          ...Object(manifest.scripts),
          tidy: 'prettier --write .',
          'check-links': 'lychee README.md',
          changelog: 'conventional-changelog -p angular',
        },
      })),
  },
  {
    name: 'two lock files',
    about: 'npm was run once where another manager is used',
    make: ({ files }) => {
      const isOther = ['pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'].some((name) => name in files);
      if (!isOther || 'package-lock.json' in files) return undefined;
      return { files: { ...files, 'package-lock.json': '{ "lockfileVersion": 3, "packages": {} }\n' } };
    },
  },
  {
    name: 'a left-over start script',
    about: 'what is served as files still has the script of a server that is not built',
    make: (fixture) => {
      const [app] = Array.isArray(fixture.expected.apps) ? fixture.expected.apps : [];
      const start = frameworkNamed(app?.framework ?? null)?.start;
      if (app?.startCommand !== null || !app.staticOutput || typeof start !== 'string') return undefined;
      return withManifests(fixture, (manifest) => ({
        ...manifest,
        scripts: { ...Object(manifest.scripts), start },
      }));
    },
  },
  {
    name: 'in a folder',
    about: 'the whole repository lies in a folder that is named as the root directory',
    make: ({ files }) => ({
      files: moved(files, 'work/2026/services/app'),
      rootDirectory: 'work/2026/services/app',
    }),
  },
  {
    name: 'beside another app',
    about: 'as before, with a server of somebody else in the folder next to it',
    make: ({ files }) => ({
      files: {
        ...moved(files, 'work/2026/services/app'),
        'work/2026/services/other/package.json': JSON.stringify({
          name: 'other',
          scripts: { start: 'node other.js' },
          dependencies: { express: '^5' },
        }),
        'work/2026/services/other/other.js': "require('express')().listen(9999)\n",
        'README.md': '# Two services\n',
      },
      rootDirectory: 'work/2026/services/app',
    }),
  },
  {
    name: 'in a workspace',
    about: 'the package is a member of a workspace, whose lock file lies at the top',
    make: ({ files, expected }) => {
      const manifest = parsed(files['package.json'] ?? '');
      const apps = Array.isArray(expected.apps) ? expected.apps : [];
      const isOne = apps.length === 1 && apps[0]?.path === '.';
      if (!manifest || !isOne || manifest.workspaces || Object.keys(files).some(isOfWorkspace))
        return undefined;
      // A member that has no script to build or start it is for the others.
      if (
        !Object.keys(Object(manifest.scripts)).some((each) => /^(?:start|dev|build|prod)(?:$|:)/.test(each))
      )
        return undefined;
      const atTop = Object.entries(files).filter(([path]) => lockFiles.includes(path));
      const below = Object.entries(files).filter(([path]) => !lockFiles.includes(path));
      const isPnpm = atTop.some(([path]) => path === 'pnpm-lock.yaml');
      return {
        files: {
          'package.json': JSON.stringify({ name: 'all', private: true, workspaces: ['apps/*'] }),
          ...(isPnpm ? { 'pnpm-workspace.yaml': 'packages:\n  - apps/*\n' } : {}),
          ...Object.fromEntries(atTop),
          ...moved(Object.fromEntries(below), 'apps/app'),
        },
        seenFrom: 'apps/app',
      };
    },
  },
];

const lockFiles = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock', 'bun.lockb'];

/** Files that name other folders of a repository, or speak of it as a whole. */
function isOfWorkspace(path: string): boolean {
  return /^(?:pnpm-workspace\.yaml|lerna\.json|nx\.json|rush\.json|.*\/package\.json|(?:docker-)?compose\.ya?ml|\.do\/.*)$/.test(
    path,
  );
}

function moved(files: Files, folder: string): Files {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}

/** Every package.json of the fixture that can be read. */
function withManifests({ files }: Fixture, change: (manifest: Manifest) => Manifest): Mutated | undefined {
  const changed = Object.entries(files).map(([path, text]): [string, string] => {
    const manifest = path.endsWith('package.json') ? parsed(text) : undefined;
    return [path, manifest ? JSON.stringify(change(manifest), null, 2) : text];
  });
  const all = Object.fromEntries(changed);
  return Object.keys(files).some((path) => all[path] !== files[path]) ? { files: all } : undefined;
}

function parsed(text: string): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
