/** `slipway` as people and programs start it: a process of its own, with or without a terminal. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { root } from '../../scripts/commands.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { until } from '../support/until.ts';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Start {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** How wide the terminal is. */
  readonly columns?: number;
}

/** A person's machine: where contexts are kept, and a folder to work in. */
export class Desk {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** What is started; another, where the packed one is tried. */
  entry = join(root, 'cli/main.ts');

  constructor(t: TestContext) {
    this.folder = temporaryFolder('desk');
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
    // What is compiled is kept, as it is where the packed one runs: most of a start would be spent on types.
    const { PATH = '', NODE_COMPILE_CACHE } = process.env;
    this.env = {
      PATH,
      HOME: this.folder,
      SLIPWAY_CONFIG_DIR: join(this.folder, 'config'),
      TERM: 'xterm',
      ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    };
  }

  async run(args: readonly string[], { env, cwd, input = '' }: Start = {}): Promise<Ended> {
    const child = spawn(process.execPath, [this.entry, ...args], {
      cwd: cwd ?? this.folder,
      env: { ...this.env, ...env },
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      err += text;
    });
    child.stdin.on('error', () => {}).end(input);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, out, err };
  }

  /** In a terminal: util-linux's `script` gives it one. */
  watch(t: TestContext, args: readonly string[], { env, cwd, columns = 100 }: Start = {}): Watched {
    const command = [process.execPath, this.entry, ...args].map((word) => `'${word}'`).join(' ');
    const line = `stty cols ${columns} rows 40; exec ${command}`;
    const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
      cwd: cwd ?? this.folder,
      env: { ...this.env, SHELL: '/bin/sh', ...env },
    });
    t.after(() => child.kill());
    const watched = new Watched((text) => child.stdin.write(text));
    child.stdout.setEncoding('utf8').on('data', (text) => watched.add(text));
    child.once('close', (code) => watched.end(code));
    return watched;
  }
}

export class Watched {
  raw = '';
  readonly type: (text: string) => void;
  readonly ended: Promise<number | null>;
  end: (code: number | null) => void = () => {};

  constructor(type: (text: string) => void) {
    this.type = type;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  add(text: string): void {
    this.raw += text;
  }

  get screen(): string {
    return render(this.raw);
  }

  /** Until this is on the screen, whose lines have no blanks at their ends. */
  async sees(text: string | RegExp): Promise<void> {
    const isThere = () =>
      typeof text === 'string' ? this.screen.includes(text.trimEnd()) : text.test(this.screen);
    await until(isThere, `${text} on the screen`).catch((error: unknown) => {
      throw new Error(`${error}\n${this.screen}`);
    });
  }
}

/** What is left to read after all that moves the cursor; colours are no part of it. */
export function render(raw: string): string {
  const lines: string[][] = [[]];
  let row = 0;
  let column = 0;
  const line = () => {
    lines[row] ??= [];
    return lines[row] ?? [];
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is read here
  for (const [text, parameters = '', kind] of raw.matchAll(/\x1b\[([\d;?]*)([A-Za-z])|./gsu)) {
    const count = Number(parameters || 1);
    if (kind === 'G') column = count - 1;
    else if (kind === 'K' || kind === 'J') line().splice(column);
    else if (kind === 'C') column += count;
    else if (kind === 'D') column -= count;
    else if (kind === 'A') row = Math.max(0, row - count);
    else if (kind === 'B') row += count;
    else if (text === '\r') column = 0;
    else if (text === '\n') row += 1;
    else if (kind === undefined && text >= ' ') {
      while (line().length < column) line().push(' ');
      line()[column] = text;
      column += 1;
    }
  }
  return Array.from(lines, (each) => (each ?? []).join('').trimEnd())
    .join('\n')
    .trimEnd();
}
