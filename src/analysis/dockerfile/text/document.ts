/** A Dockerfile while it is being written: stages in order, and why each noteworthy line is there. */
import { imageName, jsonList, workdir, wrong } from './grammar.ts';

export interface Explanation {
  readonly stage: string;
  /** Counted from 1. */
  readonly line: number;
  readonly why: string;
}

const longestLine = 16_000;

export class Stage {
  readonly name: string;
  readonly #lines: { readonly text: string; readonly why: string | undefined }[] = [];

  constructor(name: string, from: string, isLast: boolean, why: string) {
    this.name = name;
    this.add(isLast ? `FROM ${from}` : `FROM ${from} AS ${name}`, why);
  }

  get lines(): readonly { readonly text: string; readonly why: string | undefined }[] {
    return this.#lines;
  }

  /** `text` comes from `grammar.ts`, or is a constant. */
  add(text: string, why?: string): this {
    this.#lines.push({ text, why });
    return this;
  }

  workdir(path: string): this {
    return this.add(workdir(path));
  }

  /** Values of ours only: names are constants, values are numbers or words without spaces. */
  env(values: Readonly<Record<string, string | number>>, why?: string): this {
    const pairs = Object.entries(values).map(([key, value]) => `${key}=${envValue(String(value))}`);
    return pairs.length === 0 ? this : this.add(`ENV ${pairs.join(' \\\n    ')}`, why);
  }

  command(argv: readonly string[], why: string): this {
    return this.add(`CMD ${jsonList(argv)}`, why);
  }
}

export class Document {
  readonly #stages: Stage[] = [];

  /** A stage of its own name; `from` is an image, or the name of a stage before. */
  stage(name: string, from: string, why: string, isLast = false): Stage {
    const base = this.#stages.some((each) => each.name === from) ? from : imageName(from);
    const stage = new Stage(name, base, isLast, why);
    this.#stages.push(stage);
    return stage;
  }

  /** The one that becomes the image. */
  runtime(from: string, why: string): Stage {
    return this.stage('runtime', from, why, true);
  }

  render(): { readonly text: string; readonly explanation: readonly Explanation[] } {
    const explanation: Explanation[] = [];
    const text: string[] = [];
    for (const stage of this.#stages) {
      if (text.length > 0) text.push('');
      for (const { text: line, why } of stage.lines) {
        if (why !== undefined) explanation.push({ stage: stage.name, line: text.length + 1, why });
        const lines = line.split('\n');
        // Docker's parser refuses longer ones with a message that helps nobody.
        if (lines.some((each) => each.length > longestLine))
          throw wrong('app', 'A name or command is too long.');
        text.push(...lines);
      }
    }
    return { text: `${text.join('\n')}\n`, explanation };
  }
}

function envValue(value: string): string {
  if (/^[A-Za-z0-9_.,:/+@%-]+(?::\$PATH)?$/.test(value)) return value;
  if (/^[A-Za-z0-9_.,:/+@% =-]+$/.test(value)) return `"${value}"`;
  throw new Error(`not a value for ENV: ${value}`);
}
