/** Tells a person where a test run is: a line for each file that is done, and what is under way. */
import type { Unit } from './plan.ts';
import type { Outcome } from './run-unit.ts';

const tellEveryMs = 60_000;
const redrawMs = 500;

export class ShownRun {
  readonly #out: NodeJS.WriteStream;
  readonly #all: number;
  readonly #running = new Map<Unit, number>();
  readonly #timer: NodeJS.Timeout;
  #done = 0;

  constructor(units: readonly Unit[], out: NodeJS.WriteStream = process.stdout) {
    this.#out = out;
    this.#all = units.reduce((sum, { files }) => sum + files.length, 0);
    const show = () => (out.isTTY ? this.#redraw() : out.write(`          ${this.#underWay()}\n`));
    this.#timer = setInterval(show, out.isTTY ? redrawMs : tellEveryMs).unref();
  }

  begin(unit: Unit): void {
    this.#running.set(unit, Date.now());
  }

  finish({ unit, passed, failed, seconds }: Outcome): void {
    this.#running.delete(unit);
    this.#done += unit.files.length;
    const mark = failed > 0 ? this.#paint('31', '✖') : this.#paint('32', '✔');
    const counts = failed > 0 ? `${passed} passed, ${failed} failed` : `${passed} passed`;
    const at = `${this.#done}`.padStart(`${this.#all}`.length);
    this.say(
      `${at}/${this.#all} ${mark} ${unit.name}  ${this.#paint('2', `${counts}, ${seconds.toFixed(1)} s`)}`,
    );
  }

  say(text: string): void {
    if (this.#out.isTTY) this.#out.write('\r\x1b[K');
    this.#out.write(`${text}\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#out.write('\r\x1b[K');
  }

  #underWay(): string {
    const each = [...this.#running].map(
      ([{ name }, since]) => `${name} ${Math.round((Date.now() - since) / 1000)} s`,
    );
    return `${this.#done} of ${this.#all} files done; now: ${each.join(', ')}`;
  }

  #redraw(): void {
    this.#out.write(`\r\x1b[K${this.#underWay().slice(0, (this.#out.columns ?? 80) - 1)}`);
  }

  #paint(code: string, text: string): string {
    return this.#out.isTTY && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}
