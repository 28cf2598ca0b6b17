import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { help, parse } from '../../cli/arguments.ts';
import { commonFlags, version } from '../../cli/command.ts';
import { complete } from '../../cli/commands/completion.ts';
import { quoted } from '../../cli/commands/env.ts';
import { hostOf, pathOf, sameRepository } from '../../cli/commands/init.ts';
import { commands } from '../../cli/commands.ts';
import { plain } from '../../cli/terminal.ts';
import { cliGuide, cliOperations } from '../../scripts/cli-source.ts';
import { root } from '../../scripts/commands.ts';
import { Desk } from './support.ts';

const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');

test('the guide and the fields of `slipway api` are made from what is there (else: npm run generate)', () => {
  assert.equal(read('docs/guides/cli.md'), cliGuide());
  assert.equal(read('cli/generated/api.ts'), cliOperations(read('openapi.json')));
  assert.equal(version, JSON.parse(read('package.json')).version);
});

test('every command can be loaded, and no flag means two things', async () => {
  for (const { name, load, flags = [] } of commands) {
    assert.equal(typeof (await load()), 'function', name);
    const all = [...flags, ...commonFlags];
    const names = all.flatMap((flag) => [flag.name, ...(flag.short ? [flag.short] : [])]);
    assert.equal(new Set(names).size, names.length, `${name}: ${names}`);
  }
});

test('words become a command, its arguments and its flags, in whatever order', () => {
  const parsed = (line: string) => {
    const { command, args, flags } = parse(line.split(' '));
    return [command?.name, args, { ...flags }];
  };
  assert.deepEqual(parsed('env set A=1 B=2 --plain'), ['env set', ['A=1', 'B=2'], { plain: true }]);
  assert.deepEqual(parsed('-e staging env list'), ['env list', [], { environment: 'staging' }]);
  assert.deepEqual(parsed('domains add shop.example.com'), ['domains add', ['shop.example.com'], {}]);
  assert.deepEqual(parsed('backups --limit 3'), ['backups', [], { limit: '3' }]);
  assert.deepEqual(parsed('api getServer --id x'), ['api', ['getServer', '--id', 'x'], {}]);
});

test('a line that cannot be used says what would be right', () => {
  const wrong = (line: string) => () => parse(line.split(' '));
  assert.throws(wrong('depoly'), {
    message: 'There is no command «depoly».',
    hint: /`deploy`/,
    exitCode: 'usage',
  });
  assert.throws(wrong('env sett'), { message: 'There is no command «env sett».' });
  assert.throws(wrong('logs --tial 3'), { message: "Unknown option '--tial'." });
  assert.throws(wrong('logs --tail'), { message: /argument missing/ });
});

test('help fits a terminal of 140 columns, and names every command', () => {
  const text = help({ command: undefined, group: undefined });
  for (const { name } of commands) assert.ok(text.includes(`  ${name}`), name);
  assert.deepEqual(
    text.split('\n').filter((line) => line.length > 140),
    [],
  );
});

test('completion knows commands, those of a group, and flags', () => {
  assert.deepEqual(complete(['dep']), ['deploy', 'deployments']);
  assert.deepEqual(complete(['env', '']), ['list', 'set', 'unset', 'pull', 'push']);
  assert.deepEqual(complete(['deploy', '--br']), ['--branch']);
  assert.deepEqual(complete(['servers', 'h']), ['harden']);
});

test('shells take what `completion` prints', async (t) => {
  const desk = new Desk(t);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { out, code } = await desk.run(['completion', shell]);
    assert.equal(code, 0);
    const program = ['/usr/bin', '/bin'].map((folder) => join(folder, shell)).find(existsSync);
    if (!program) continue;
    const file = join(desk.folder, shell);
    writeFileSync(file, out);
    execFileSync(program, ['-n', file]);
  }
  assert.match((await desk.run(['completion', 'csh'])).err, /bash, zsh, fish/);
});

test('a value that `env pull` writes, `env push` reads', () => {
  for (const value of [
    '',
    'a',
    'a b',
    "it's",
    'say "x"',
    'line\nline',
    '#5',
    'a\\nb',
    '$HOME',
    ' x ',
    'ünï',
    '`a`',
  ])
    assert.equal(parseEnv(`KEY=${quoted(value)}\n`).KEY, value, JSON.stringify(value));
  assert.throws(() => quoted('\'"`'), /every kind of quote/);
});

test('a remote is known in each of its forms', () => {
  const forms = [
    'git@git.example.com:ada/shop.git',
    'https://git.example.com/ada/shop',
    'ssh://git@git.example.com/ada/shop.git/',
  ];
  for (const one of forms)
    for (const other of forms) assert.ok(sameRepository(one, other), `${one} ${other}`);
  assert.deepEqual([hostOf(forms[0] ?? ''), pathOf(forms[0] ?? '')], ['git.example.com', 'ada/shop']);
  assert.ok(!sameRepository(forms[0] ?? '', 'https://git.example.com/ada/other'));
});

test('what a server printed cannot steer the terminal', () => {
  assert.equal(plain('a\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2Jb\r\x08c'), 'aredbc');
});
