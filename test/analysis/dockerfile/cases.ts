/** Apps with what a Dockerfile of theirs is written from. Each has a golden file of its name. */

import {
  type GeneratedBuild,
  type GenerateOptions,
  generateDockerfile,
} from '../../../src/analysis/dockerfile/generate-dockerfile.ts';
import { Repository } from '../../../src/analysis/repository.ts';
import type { App, Monorepo } from '../../../src/analysis/result.ts';

export interface Case {
  readonly name: string;
  readonly app: Partial<App>;
  readonly files?: Readonly<Record<string, unknown>>;
  readonly monorepo?: Monorepo;
  readonly options?: Partial<GenerateOptions>;
}

const nothing: App = {
  path: '.',
  name: 'app',
  language: 'javascript',
  framework: null,
  packageManager: null,
  versions: {},
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  releaseCommand: null,
  staticOutput: null,
  port: null,
  healthPath: null,
  processes: [],
  dockerfile: null,
  volumes: [],
  confidence: 1,
};

/** Values that are no text are written as JSON. */
export function repositoryOf(files: Readonly<Record<string, unknown>>): Repository {
  const contents = new Map(
    Object.entries(files).map(([path, value]) => [
      path,
      Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    ]),
  );
  const entries = [...contents].map(([path, { length }]) => ({ path, type: 'file' as const, size: length }));
  return new Repository(entries, contents);
}

export function generate({ app, files = {}, monorepo, options }: Omit<Case, 'name'>): GeneratedBuild {
  return generateDockerfile({ ...nothing, ...app }, monorepo ?? null, {
    buildVariables: [],
    files: repositoryOf(files),
    ...options,
  });
}

const npm = { name: 'npm', version: null, lockFile: 'package-lock.json' };
const lock = { lockfileVersion: 3, packages: {} };
const npmApp = { packageManager: npm, installCommand: 'npm ci', startCommand: 'npm start' } as const;

const workspaceFiles = {
  'package.json': { name: 'shop', private: true },
  'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
  'pnpm-workspace.yaml': 'packages: [apps/*, packages/*]\n',
  'apps/api/package.json': {
    name: '@shop/api',
    scripts: { build: 'tsc', start: 'node dist/server.js' },
    dependencies: { '@shop/shared': 'workspace:*', fastify: '^5' },
    devDependencies: { typescript: '^5' },
  },
  'apps/web/package.json': { name: '@shop/web', scripts: { build: 'vite build' } },
  'packages/shared/package.json': { name: '@shop/shared', scripts: { build: 'tsc' } },
};

export const cases: readonly Case[] = [
  {
    name: 'node-npm-express',
    app: { ...npmApp, framework: 'express', versions: { node: '22' }, port: 3000, healthPath: '/healthz' },
    files: {
      'package.json': { scripts: { start: 'node server.js' }, dependencies: { express: '^5' } },
      'package-lock.json': lock,
      'server.js': '',
    },
  },
  {
    name: 'node-npm-typescript',
    app: { ...npmApp, language: 'typescript', buildCommand: 'npm run build', port: 4000, volumes: ['data'] },
    files: {
      'package.json': {
        scripts: { build: 'tsc', start: 'node dist/server.js' },
        dependencies: { fastify: '^5' },
        devDependencies: { typescript: '^5' },
      },
      'package-lock.json': lock,
      '.npmrc': 'save-exact=true\n',
    },
    options: {
      buildVariables: [
        { key: 'NPM_TOKEN', secret: true },
        { key: 'APP_VERSION', secret: false },
      ],
      cacheScope: 'project-7',
    },
  },
  {
    name: 'node-npm-no-dependencies',
    app: {
      packageManager: { ...npm, lockFile: null },
      installCommand: 'npm install',
      startCommand: 'npm start',
    },
    files: { 'package.json': { scripts: { start: 'node server.js' } }, 'server.js': '' },
  },
  {
    name: 'node-npm-prisma-and-native',
    app: { ...npmApp, buildCommand: 'npm run build', releaseCommand: 'npx prisma migrate deploy' },
    files: {
      'package.json': {
        scripts: { build: 'tsc', start: 'node dist/main', prepare: 'husky' },
        dependencies: { '@prisma/client': '^6.1.0', prisma: '^6.1.0', bcrypt: '^5' },
        devDependencies: { husky: '^9' },
      },
      'package-lock.json': { packages: { 'node_modules/node-addon-api': {} } },
      'prisma/schema.prisma': '',
    },
  },
  {
    name: 'node-npm-workspace',
    app: { ...npmApp, path: 'apps/api', buildCommand: 'npm run build' },
    monorepo: { kind: 'npm', tool: null, members: ['apps/api', 'packages/shared'] },
    files: {
      'package.json': { workspaces: ['apps/*', 'packages/*'] },
      'package-lock.json': lock,
      'apps/api/package.json': {
        scripts: { build: 'tsc', start: 'node dist/server.js' },
        dependencies: { shared: '*' },
      },
      'packages/shared/package.json': { name: 'shared', scripts: { build: 'tsc' } },
    },
  },
  {
    name: 'node-pnpm',
    app: {
      packageManager: { name: 'pnpm', version: '10.4.1', lockFile: 'pnpm-lock.yaml' },
      installCommand: 'pnpm install --frozen-lockfile',
      startCommand: 'pnpm start',
    },
    files: {
      'package.json': { scripts: { start: 'node server.js' }, dependencies: { koa: '^3' } },
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    },
  },
  {
    name: 'node-pnpm-workspace',
    app: {
      path: 'apps/api',
      language: 'typescript',
      framework: 'fastify',
      packageManager: { name: 'pnpm', version: '10.4.1', lockFile: 'pnpm-lock.yaml' },
      installCommand: 'pnpm install --frozen-lockfile',
      buildCommand: 'pnpm run build',
      startCommand: 'pnpm start',
      port: 3001,
    },
    monorepo: { kind: 'pnpm', tool: null, members: ['apps/api', 'apps/web', 'packages/shared'] },
    files: workspaceFiles,
  },
  {
    name: 'node-yarn-classic',
    app: {
      packageManager: { name: 'yarn', version: '1.22.22', lockFile: 'yarn.lock' },
      installCommand: 'yarn install --frozen-lockfile',
      buildCommand: 'yarn build',
      startCommand: 'yarn start',
    },
    files: {
      'package.json': {
        scripts: { build: 'tsc', start: 'NODE_OPTIONS=--enable-source-maps node dist/main.js' },
        dependencies: { express: '^5' },
        devDependencies: { typescript: '^5' },
      },
      'yarn.lock': '# yarn lockfile v1\n',
    },
  },
  {
    name: 'node-yarn-berry',
    app: {
      packageManager: { name: 'yarn', version: '4.9.1', lockFile: 'yarn.lock' },
      installCommand: 'yarn install --immutable',
      buildCommand: 'yarn build',
      startCommand: 'yarn start',
    },
    files: {
      'package.json': {
        scripts: { build: 'tsc', start: 'node dist/main.js' },
        dependencies: { express: '^5' },
        devDependencies: { typescript: '^5' },
      },
      'yarn.lock': '__metadata:\n  version: 8\n',
      '.yarnrc.yml': 'nodeLinker: pnp\n',
    },
  },
  {
    name: 'node-bun',
    app: {
      language: 'typescript',
      packageManager: { name: 'bun', version: '1.2.4', lockFile: 'bun.lock' },
      versions: { bun: '1.2.4' },
      installCommand: 'bun install --frozen-lockfile',
      startCommand: 'bun run start',
    },
    files: {
      'package.json': { scripts: { start: 'bun src/index.ts' }, dependencies: { hono: '^4' } },
      'bun.lock': '{}',
    },
  },
  {
    name: 'node-next',
    app: { ...npmApp, language: 'typescript', framework: 'next', buildCommand: 'npm run build', port: 3000 },
    files: {
      'package.json': {
        scripts: { build: 'next build', start: 'next start' },
        dependencies: { next: '^16' },
      },
      'package-lock.json': lock,
      'next.config.ts': 'export default {};',
    },
  },
  {
    name: 'node-next-standalone',
    app: { ...npmApp, language: 'typescript', framework: 'next', buildCommand: 'npm run build', port: 3000 },
    files: {
      'package.json': {
        scripts: { build: 'next build', start: 'next start' },
        dependencies: { next: '^16' },
      },
      'package-lock.json': lock,
      'next.config.ts': "export default { output: 'standalone' };",
      'public/robots.txt': '',
    },
  },
  {
    name: 'node-nuxt',
    app: {
      ...npmApp,
      framework: 'nuxt',
      buildCommand: 'npm run build',
      startCommand: 'node .output/server/index.mjs',
      port: 3000,
    },
    files: {
      'package.json': {
        scripts: { build: 'nuxt build', postinstall: 'nuxt prepare' },
        dependencies: { nuxt: '^4' },
      },
      'package-lock.json': lock,
    },
  },
  {
    name: 'node-sveltekit',
    app: { ...npmApp, framework: 'sveltekit', buildCommand: 'npm run build', startCommand: 'node build' },
    files: {
      'package.json': { scripts: { build: 'vite build' }, devDependencies: { '@sveltejs/kit': '^2' } },
      'package-lock.json': lock,
    },
  },
  {
    name: 'node-vite-static',
    app: {
      ...npmApp,
      language: 'typescript',
      framework: 'vite',
      buildCommand: 'npm run build',
      startCommand: null,
      staticOutput: { directory: 'dist', isSinglePage: true },
    },
    files: {
      'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '^8' } },
      'package-lock.json': lock,
    },
    options: { buildVariables: [{ key: 'VITE_API_URL', secret: false }] },
  },
  {
    name: 'deno',
    app: {
      language: 'typescript',
      packageManager: { name: 'deno', version: null, lockFile: 'deno.lock' },
      versions: { deno: '2' },
      installCommand: 'deno install',
      startCommand: 'deno task start',
    },
    files: { 'deno.json': { tasks: { start: 'deno run --allow-net --allow-env main.ts' } }, 'main.ts': '' },
  },
];
