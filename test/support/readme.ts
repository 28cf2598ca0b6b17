/** The commands of the README, taken out of it, and a shell that runs them one by one as a person would. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { root } from '../../scripts/commands.ts';
import { Watched } from '../cli/support.ts';
import { temporaryFolder } from './postgres.ts';
import { cleanEnv, noneLeft, signal } from './service.ts';
import { until } from './until.ts';

export interface Block {
  readonly heading: string;
  /** Each a whole command, with its comment, over several lines where it has them. */
  readonly commands: readonly string[];
}

export function readmeBlocks(text = readFileSync(join(root, 'README.md'), 'utf8')): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let lines: string[] | undefined;
  for (const line of text.split('\n')) {
    if (lines && line === '```') {
      blocks.push({ heading, commands: commandsOf(lines) });
      lines = undefined;
    } else if (lines) lines.push(line);
    else if (line.startsWith('```')) {
      assert.equal(line, '```sh', 'every fenced block of the README is one that can be run');
      lines = [];
    } else if (line.startsWith('#')) heading = line.replace(/^#+ /, '');
  }
  return blocks;
}

function commandsOf(lines: readonly string[]): string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of lines) {
    if (open === '' && /^\s*(#.*)?$/.test(line)) continue;
    open = open === '' ? line : `${open}\n${line}`;
    // bash itself knows where a command ends; only that of a line it would take as it is.
    if (line.endsWith('\\') || spawnSync('bash', ['-n', '-c', open]).status !== 0) continue;
    commands.push(open);
    open = '';
  }
  assert.equal(open, '', 'a command of the README does not end');
  return commands;
}

/** What the README marks as the reader's own, and what this reader has. The longer ones first. */
export function filled(command: string, own: Readonly<Record<string, string>>): string {
  const names = Object.keys(own).sort((one, other) => other.length - one.length);
  const done = names.reduce((text, name) => text.replaceAll(name, own[name] ?? ''), command);
  assert.doesNotMatch(done, /THE [A-Z]{2,}|example\.com|203\.0\.113\./, 'something was left to replace');
  return done;
}

/** What is asked, and what a person types then, or does elsewhere. */
export type Answers = readonly (readonly [
  question: string,
  answer: string | ((screen: string) => Promise<void>),
])[];

/** One shell for all, in the folder of the clone: variables of one block are used in the next. */
export class Shell {
  readonly #bash: ChildProcess;
  readonly #place: { readonly cwd: string; readonly env: Record<string, string> };
  #said = '';
  #errors = '';
  #count = 0;

  constructor(cwd: string) {
    // What npm itself has to say, of the settings of this machine for one, is not ours.
    const own = { SLIPWAY_CONFIG_DIR: join(cwd, 'contexts'), npm_config_loglevel: 'error', TERM: 'xterm' };
    this.#place = { cwd, env: cleanEnv(own) };
    this.#bash = spawn('bash', ['-s'], { stdio: ['pipe', 'pipe', 'pipe'], ...this.#place });
    this.#bash.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
    this.#bash.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
  }

  end(): void {
    this.#bash.kill('SIGKILL');
  }

  /** What it printed; an exit code other than 0, and anything on standard error, is a failure. */
  async run(command: string): Promise<string> {
    this.#count += 1;
    const [end, from, before] = [`--- end of ${this.#count}, `, this.#said.length, this.#errors.length];
    this.#bash.stdin?.write(`${command}\nprintf '\\n${end}%s ---\\n' $?\n`);
    const find = () => this.#said.indexOf(`\n${end}`, from);
    const closed = () => find() !== -1 && this.#said.indexOf(' ---\n', find()) !== -1;
    await until(closed, `the end of: ${command}\n${this.#said.slice(from)}`);
    const printed = this.#said.slice(from, find());
    const code = this.#said.slice(find() + end.length + 1).split(' ')[0];
    assert.equal(code, '0', `${command}\n${printed}${this.#errors.slice(before)}`);
    assert.equal(this.#errors.slice(before), '', command);
    return printed;
  }

  /** The same at a terminal of its own, where questions are asked; what is left on the screen in the end. */
  async converse(command: string, answers: Answers): Promise<string> {
    const line = ['--quiet', '--return', '--flush', '--command', command, '/dev/null'];
    const child = spawn('script', line, { stdio: ['pipe', 'pipe', 'pipe'], ...this.#place });
    const watched = new Watched((text) => child.stdin.write(text));
    child.stdout.setEncoding('utf8').on('data', (text) => watched.add(text));
    child.once('close', (code) => watched.end(code));
    try {
      for (const [question, answer] of answers) {
        await watched.sees(question);
        if (typeof answer === 'string') watched.type(`${answer}\r`);
        else await answer(watched.screen);
      }
      await until(() => child.exitCode !== null, `the end of: ${command}`);
    } finally {
      child.kill();
    }
    assert.equal(await watched.ended, 0, `${command}\n${watched.screen}`);
    return watched.screen;
  }
}

export interface Started {
  readonly url: string;
  /** A second terminal, in the same folder. */
  readonly shell: Shell;
  readonly folder: string;
  said(): string;
  /** As the terminal does it: to npm and all below it. */
  interrupt(): Promise<number | null>;
}

/** `npm start` in a copy of what a clone has to run; what was installed is shared. */
export async function npmStart(t: TestContext, env: Record<string, string> = {}): Promise<Started> {
  const folder = temporaryFolder('readme');
  const needed = 'package.json package-lock.json openapi.json scripts src web sdk cli';
  for (const name of needed.split(' ')) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const child = spawn('npm', ['start'], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: cleanEnv(env),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const { pid } = child;
  assert.ok(pid);
  const shell = new Shell(folder);
  t.after(async () => {
    shell.end();
    if (child.exitCode === null && child.signalCode === null) signal(-pid, 'SIGINT');
    await ended;
    await noneLeft(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  const find = () => /Slipway is running at (http:\/\/\S+)\/api\/v1\n/.exec(said)?.[1];
  const url = await until(() => find() ?? (child.exitCode !== null ? '' : undefined), `npm start: ${said}`);
  assert.notEqual(url, '', said);
  const interrupt = () => {
    signal(-pid, 'SIGINT');
    return ended;
  };
  return { url, shell, folder, said: () => said, interrupt };
}
