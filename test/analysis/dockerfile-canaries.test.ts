import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DockerfileParser } from 'dockerfile-ast';
import { Fault } from '../../src/fault.ts';
import { type Case, cases, generate } from './dockerfile/cases.ts';
import { cases as languages } from './dockerfile/language-cases.ts';

const canaries = [
  'x\nLABEL canary=1\n',
  'x\r\nLABEL canary=1\r\n',
  'x \\\nLABEL canary=1',
  'x \\',
  'cat <<LABEL',
  '--mount=type=bind,target=/canary x',
  '# syntax=canary/frontend',
  '["canary"',
  '$(touch canary)',
  '`touch canary`',
  "x'; touch canary; '",
  'x"; touch canary; "',
  'x && touch canary',
  '../../canary',
  'x y',
  '__proto__',
  '\0canary',
  'x'.repeat(70_000),
];
const known = new Set('FROM WORKDIR COPY RUN ENV ARG USER EXPOSE HEALTHCHECK CMD ENTRYPOINT'.split(' '));
const all = [...cases, ...languages];

const seen = new Set<string>();

/** Whatever comes out is a Dockerfile of ours; whatever cannot be is a Fault that can be shown. */
function check(each: Case, canary: string, isCommand: boolean): void {
  let text: string;
  try {
    text = generate(each).dockerfile;
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    assert.ok(!error.message.includes('\n') && error.message.length < 400, error.message.slice(0, 500));
    return;
  }
  if (seen.has(`${isCommand}${text}`)) return;
  seen.add(`${isCommand}${text}`);
  const where = `${each.name} with ${JSON.stringify(canary.slice(0, 60))}:\n${text}`;
  assert.match(text, /^FROM /, where);
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    assert.ok(known.has(instruction.getKeyword()), where);
  }
  const outsideOfLists = text.replace(/\[".*"\]$/gm, '');
  assert.doesNotMatch(outsideOfLists, /<<|^\s*(LABEL|#|--mount=type=bind)|^RUN --mount=type=bind/m, where);
  assert.ok(!/\r|\0/.test(text), where);
  assert.ok(
    text.split('\n').every((line) => line.length < 20_000),
    where,
  );
  // A command is what the user wants to run; a name or a path is never run.
  if (!isCommand) assert.doesNotMatch(text, /touch canary/, where);
}

test('no value of an app changes what the Dockerfile is made of', () => {
  const commands = ['installCommand', 'buildCommand', 'startCommand', 'releaseCommand'] as const;
  const names = ['path', 'name', 'language', 'framework', 'healthPath'] as const;
  for (const each of all) {
    for (const canary of canaries) {
      for (const field of commands) check({ ...each, app: { ...each.app, [field]: canary } }, canary, true);
      for (const field of names) check({ ...each, app: { ...each.app, [field]: canary } }, canary, false);
      const manager = { name: each.app.packageManager?.name ?? 'npm', version: canary, lockFile: canary };
      check({ ...each, app: { ...each.app, packageManager: manager } }, canary, false);
      check({ ...each, app: { ...each.app, packageManager: { ...manager, name: canary } } }, canary, false);
      const versions = Object.fromEntries(
        [
          'node',
          'bun',
          'deno',
          'python',
          'go',
          'rust',
          'java',
          'php',
          'ruby',
          'dotnet',
          'elixir',
          'pnpm',
          'hugo',
        ].map((name) => [name, canary]),
      );
      check({ ...each, app: { ...each.app, versions } }, canary, false);
      check({ ...each, app: { ...each.app, volumes: [canary] } }, canary, false);
      const staticOutput = { directory: canary, isSinglePage: true };
      check({ ...each, app: { ...each.app, staticOutput } }, canary, false);
      const process = { name: canary, kind: 'worker', command: canary, schedule: canary } as const;
      check({ ...each, app: { ...each.app, processes: [process] } }, canary, true);
    }
  }
});

test('no file of a repository, by name or by content, changes what the Dockerfile is made of', () => {
  for (const each of all) {
    for (const canary of canaries) {
      const member = {
        kind: each.monorepo?.kind ?? 'npm',
        tool: canary,
        members: [canary, each.app.path ?? '.'],
      };
      check({ ...each, monorepo: member }, canary, false);
      const files = { ...each.files, [`${canary}/package.json`]: {}, [`${canary}/a.html`]: '', [canary]: '' };
      check({ ...each, files }, canary, false);
      for (const file of Object.keys(each.files ?? {})) {
        check({ ...each, files: { ...each.files, [file]: canary } }, canary, false);
      }
      const manifests = {
        'package.json': { name: canary, scripts: { build: 'x' }, dependencies: { [canary]: canary } },
        'Cargo.toml': `[package]\nname = ${JSON.stringify(canary)}\n[[bin]]\nname = ${JSON.stringify(canary)}\n`,
        'pyproject.toml': `[project]\nname = ${JSON.stringify(canary)}\n`,
        'mix.exs': `app: :${canary}, releases: [${canary}: []]`,
        'requirements.txt': `-r ${canary}\n`,
        'a.csproj': `<AssemblyName>${canary}</AssemblyName>`,
        [`${canary}.csproj`]: '',
        'go.mod': canary,
        'composer.json': { require: { [`ext-${canary}`]: '*' } },
      };
      check({ ...each, files: { ...each.files, ...manifests } }, canary, false);
    }
  }
});

test('a script of package.json runs only as the start command', () => {
  const [base] = cases;
  assert.ok(base);
  for (const canary of canaries) {
    const scripts = { start: canary, prestart: canary, postinstall: canary };
    check({ ...base, files: { 'package.json': { scripts }, 'package-lock.json': {} } }, canary, true);
  }
});

test('keys of variables, packages, ports and scopes that are not of their form are refused', () => {
  for (const canary of canaries.filter((each) => each !== '__proto__')) {
    for (const options of [
      { buildVariables: [{ key: canary, secret: false }] },
      { buildVariables: [{ key: canary, secret: true }] },
      { overrides: { systemPackages: [canary] } },
      { cacheScope: canary },
      { overrides: { healthPath: canary } },
      { overrides: { port: Number(canary) } },
    ]) {
      const [base] = cases;
      assert.ok(base);
      assert.throws(() => generate({ ...base, options }), Fault, JSON.stringify(canary.slice(0, 40)));
    }
  }
});
