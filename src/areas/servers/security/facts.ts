/**
 * The raw facts of a server, as the script printed them. A section that is missing, was cut, took too long or ended
 * badly cannot be read as if it were empty: asking for it throws `UnreadableFact`, which makes the check `unknown`.
 */
import { gunzipSync } from 'node:zlib';
import { Fault } from '../../../fault.ts';

export interface Section {
  /** Its exit code, `cut` or `skipped`. */
  readonly code: string;
  readonly text: string;
}

/** `closed`: refused by the server itself, or by a rule that rejects. `filtered`: no answer at all. */
export type PortState = 'open' | 'closed' | 'filtered';

/** A connection that was tried from here. */
export interface PortProbe {
  readonly address: string;
  readonly port: number;
  readonly state: PortState;
}

/** When the script was sent and had ended, by our clock, in milliseconds. */
export interface RoundTrip {
  readonly sentMs: number;
  readonly endedMs: number;
}

export class UnreadableFact extends Error {}

const notInstalled = '127';

export class Facts {
  readonly sections: ReadonlyMap<string, Section>;
  readonly roundTrip: RoundTrip;
  readonly probes: readonly PortProbe[];

  constructor(
    sections: ReadonlyMap<string, Section>,
    roundTrip: RoundTrip,
    probes: readonly PortProbe[] = [],
  ) {
    this.sections = sections;
    this.roundTrip = roundTrip;
    this.probes = probes;
  }

  withProbes(probes: readonly PortProbe[]): Facts {
    return new Facts(this.sections, this.roundTrip, probes);
  }

  /** The section's text. */
  text(name: string): string {
    const section = this.sections.get(name);
    if (!section) throw new UnreadableFact(`The server did not report ${name}.`);
    const { code, text } = section;
    if (code === '0') return text;
    if (code === 'skipped' || code === '124') throw new UnreadableFact(`Asking for ${name} took too long.`);
    if (code === 'cut')
      throw new UnreadableFact(`What the server reported of ${name} is too long to be judged.`);
    throw new UnreadableFact(`Asking for ${name} ended with ${code}: ${text.trim().slice(-300)}`);
  }

  lines(name: string): string[] {
    return this.text(name)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }

  /** What follows the word, of each line that begins with it. */
  following(name: string, word: string): string[] {
    return this.lines(name)
      .filter((line) => line === word || line.startsWith(`${word} `))
      .map((line) => line.slice(word.length).trim());
  }

  /** Where what was asked is not installed on the server. A section that never came is no proof of that. */
  isAbsent(name: string): boolean {
    return this.sections.get(name)?.code === notInstalled;
  }

  /** The kind of container the server is, if it is one: its kernel is then another's. */
  get container(): string | undefined {
    const kind = this.text('container').trim();
    if (!/^[a-z0-9-]*$/.test(kind))
      throw new UnreadableFact('Whether the server is a container cannot be read.');
    return kind === 'none' || kind === '' ? undefined : kind;
  }
}

const maxBytes = 8 * 1024 * 1024;

/** The sections of what the script printed. */
export function parseSections(packed: Buffer): Map<string, Section> {
  const bytes = unpacked(packed);
  const sections = new Map<string, Section>();
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf(0x0a, at);
    const header =
      end < 0
        ? null
        : /^@([a-z0-9_]+) ([0-9]+|cut|skipped) ([0-9]+)$/.exec(bytes.toString('latin1', at, end));
    const [, name = '', code = '', length = ''] = header ?? [];
    const after = end + 1 + Number(length);
    if (!header || bytes[after] !== 0x0a) throw badAnswer(`byte ${at}`);
    sections.set(name, { code, text: bytes.toString('utf8', end + 1, after) });
    at = after + 1;
  }
  if (!sections.has('end')) throw badAnswer('its end');
  return sections;
}

function unpacked(packed: Buffer): Buffer {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    throw badAnswer('its packing', error);
  }
}

function badAnswer(where: string, cause?: unknown): Fault {
  return new Fault(
    'remote_failed',
    'The server answered the questions about its security in a form that is not ours.',
    {
      hint: 'Something on the server prints into every session, such as a line in /etc/profile or ~/.bashrc.',
      evidence: `The answer cannot be read at ${where}.`,
      cause,
    },
  );
}

/** JSON of the server, which can be anything. */
export function parseFactJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableFact(`What the server reported of ${what} is no JSON.`, { cause: error });
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
