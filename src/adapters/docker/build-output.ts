/** What a build prints, read as it comes: which step failed, what it said last, and how the whole ended. */
import { endMark, refusalMark } from './build-script.ts';

export interface BuiltImage {
  readonly id: string;
  /** Of TCP. */
  readonly exposedPorts: readonly number[];
  /** Empty where it runs as root. */
  readonly user: string;
}

export interface BuildEnd {
  readonly code: number;
  /** How often the memory was used up; where the kernel tells no more than that, nobody need have been killed. */
  readonly memoryHits: number;
  readonly isKilled: boolean;
  readonly image: BuiltImage | undefined;
}

export interface BuildFailure {
  /** `[2/5] RUN npm ci`; undefined where no step had begun. */
  readonly step: string | undefined;
  readonly error: string;
  readonly lines: readonly string[];
}

const keptLines = 30;

export class BuildOutput {
  readonly #names = new Map<string, string>();
  readonly #said = new Map<string, string[]>();
  readonly #last: string[] = [];
  #failed: { readonly number: string; readonly error: string } | undefined;
  #end: BuildEnd | undefined;
  #refusal: string | undefined;

  /** As it was printed: in the name of an image there may be what looks like a secret. */
  readOwn(line: string): void {
    if (line.startsWith(endMark)) this.#end = readEnd(line);
    if (line.startsWith(refusalMark)) this.#refusal = line.slice(refusalMark.length + 1);
  }

  /** False for the lines that are ours. */
  push(line: string): boolean {
    if (line.startsWith(endMark) || line.startsWith(refusalMark)) return false;
    this.#keep(this.#last, line);
    const [, number, text = ''] = /^#(\d+) (.*)$/s.exec(line) ?? [];
    if (number !== undefined) this.#pushStep(number, text);
    return true;
  }

  /** Undefined where the unit ended before it could say. */
  get end(): BuildEnd | undefined {
    return this.#end;
  }

  /** Why it was not even begun. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  get failure(): BuildFailure {
    if (!this.#failed) {
      const lines = this.#last.filter((line) => line.trim() !== '');
      return { step: undefined, error: lines.at(-1) ?? '', lines };
    }
    const { number, error } = this.#failed;
    return { step: this.#names.get(number), error, lines: this.#said.get(number) ?? [] };
  }

  #pushStep(number: string, text: string): void {
    const name = this.#names.get(number);
    if (name === undefined) this.#names.set(number, text);
    else if (text.startsWith('ERROR: ')) this.#failed ??= { number, error: text.slice(7) };
    else {
      const said = this.#said.get(number) ?? [];
      this.#said.set(number, said);
      const printed = /^\d+\.\d+ (.*)$/s.exec(text)?.[1];
      if (printed !== undefined) this.#keep(said, printed);
    }
  }

  #keep(lines: string[], line: string): void {
    lines.push(line);
    if (lines.length > keptLines) lines.shift();
  }
}

function readEnd(line: string): BuildEnd {
  const [, code, kind, hits, image = '-', ports = 'null', ...user] = line.split(' ');
  return {
    code: Number(code),
    memoryHits: Number(hits),
    isKilled: kind === 'killed' && Number(hits) > 0,
    image:
      image === '-' ? undefined : { id: image, exposedPorts: portsIn(ports), user: userIn(user.join(' ')) },
  };
}

function portsIn(text: string): number[] {
  const exposed = Object.keys(Object(parsed(text))).filter((each) => !/\/(udp|sctp)$/.test(each));
  return exposed.map((each) => Number.parseInt(each, 10)).filter((port) => port > 0);
}

function userIn(text: string): string {
  const user = parsed(text);
  return typeof user === 'string' ? user : '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
