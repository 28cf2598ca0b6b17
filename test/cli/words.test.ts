import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnv } from 'node:util';
import { parse } from '../../cli/arguments.ts';
import { commonFlags, version } from '../../cli/command.ts';
import { complete } from '../../cli/commands/completion.ts';
import { quoted } from '../../cli/commands/env.ts';
import { hostOf, pathOf, sameRepository } from '../../cli/commands/init.ts';
import { commands } from '../../cli/commands.ts';
import { help } from '../../cli/help.ts';
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
  // Passed over, it would be deployed to another environment than the one that was meant.
  assert.throws(wrong('deploy staging'), { message: '«staging» is too much.', hint: /--environment/ });
  assert.throws(wrong('rollback 4 5'), { message: '«5» is too much.', hint: /slipway rollback \[number\]/ });
  const usage = 'Usage: slipway servers add <name> <host> [flags]';
  assert.throws(wrong('servers add web-1'), { message: '<host> is missing.', hint: usage });
});

test('help names every command, also those below one, and fits the terminal, narrow or wide', () => {
  const all = help({});
  for (const { name } of commands) assert.ok(all.includes(`\n  ${name}`), name);
  // A line for each: a list in which half of the lines go on in the next is not read.
  assert.doesNotMatch(all, /\n {10}/);
  assert.match(help({ command: commands.find(({ name }) => name === 'domains') }), /\n {2}domains add </);
  for (const width of [60, 80, 200])
    for (const text of [help({ width }), ...commands.map((command) => help({ command, width }))]) {
      // What can be copied stays in one line.
      const lines = text.split('\n').filter((line) => !/^ {2}.*slipway |^Usage: /.test(line));
      assert.deepEqual(
        lines.filter((line) => line.length > Math.min(width, 100)),
        [],
      );
      assert.ok(!lines.some((line) => line.endsWith(' ')));
    }
});

test('every example in the help is a line that can be used', () => {
  const lines = commands.flatMap(({ examples = [] }) => examples);
  assert.ok(lines.length > 20, `${lines.length} examples`);
  for (const line of lines) {
    const [, words = ''] = /(?:^|\| )slipway ([^>|]+)/.exec(line) ?? assert.fail(line);
    const parsed = parse((words.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', '')));
    assert.ok(parsed.command, line);
  }
});

test('help is asked for in each of the ways that people know', async (t) => {
  const desk = new Desk(t);
  const wanted = {
    code: 0,
    out: help({ command: commands.find(({ name }) => name === 'env set') }),
    err: '',
  };
  for (const line of ['env set --help', 'env set -h', 'help env set', '--help env set'])
    assert.deepEqual(await desk.run(line.split(' ')), wanted, line);
  const ofApi = help({ command: commands.find(({ name }) => name === 'api') });
  assert.deepEqual(await desk.run(['api', '--help']), { code: 0, out: ofApi, err: '' });
  for (const line of ['help', '--help', '-h'])
    assert.deepEqual(await desk.run([line]), { code: 0, out: help({}), err: '' });
  assert.deepEqual(await desk.run(['help', 'env']), { code: 0, out: help({ group: 'env' }), err: '' });
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
