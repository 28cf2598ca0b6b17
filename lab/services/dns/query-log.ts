/** The last questions that were asked, for tests that want to know who asked for what. */
import { plainName } from './names.ts';

export interface LoggedQuery {
  readonly time: string;
  /** In lower case, whatever the case of the query. */
  readonly name: string;
  readonly type: string;
  /** The address it came from. */
  readonly source: string;
  readonly transport: 'udp' | 'tcp';
  /** The code of the answer, or why there was none; null while it is looked for. */
  readonly answer: string | null;
}

const most = 1000;

export class QueryLog {
  #entries: LoggedQuery[] = [];

  /** Gives back how to write down what became of it. */
  add(query: Pick<LoggedQuery, 'name' | 'type' | 'source' | 'transport'>): (answer: string) => void {
    const time = new Date().toISOString();
    const entry = { time, ...query, name: plainName(query.name), answer: null };
    this.#entries = [...this.#entries.slice(1 - most), entry];
    return (answer) => {
      this.#entries = this.#entries.map((each) => (each === entry ? { ...each, answer } : each));
    };
  }

  list(name?: string): LoggedQuery[] {
    const wanted = name === undefined ? undefined : plainName(name);
    return this.#entries.filter((entry) => wanted === undefined || entry.name === wanted);
  }
}
