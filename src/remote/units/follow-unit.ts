/** Long work on a server, from its start to its end; a later call continues where it is. */
import { StringDecoder } from 'node:string_decoder';
import { Fault } from '../../fault.ts';
import { Handover } from '../../handover.ts';
import type { Secret } from '../../secret.ts';
import { createRedactor } from '../exec/redact.ts';
import type { Remote, UnitOutput, UnitSpec, UnitState } from '../remote.ts';
import { raceAbort } from '../ssh/deadline.ts';
import { mostUnitBytes } from './bounded-output.ts';

export interface FollowUnitOptions {
  readonly signal: AbortSignal;
  /** Taken out of the lines, and so out of the evidence too, beside those that the remote knows. */
  readonly secrets?: readonly Secret<string | Buffer>[];
  line(text: string): void;
  /** Each line as it was printed: for words of ours, in which a number may look like a secret. Nothing else is read from it. */
  own?(text: string): void;
  /** One that succeeds stays on the server until `stopUnit`: a round trip less for whoever clears up later anyway. */
  readonly isKept?: true;
}

export interface FollowedUnit extends UnitSpec {
  /** What it does, as the beginning of a sentence: «Pulling the image redis:8». */
  readonly what: string;
  /** What helps where it fails, by what it printed. */
  readonly hintFor?: (evidence: string) => string | undefined;
}

/** How long one read may wait for more; the first comes with the start, and who is told to stop waits for that. */
const readMs = 5_000;
const firstReadMs = 2_000;
/** Longer lines are split: a program that never ends its line must not fill our memory. */
const maxLineLength = 16 * 1024;
const evidenceLines = 15;

/**
 * Starts it, or follows one that runs, and emits its lines; fails with `remote_failed` unless it succeeds, with `work_lost`
 * where it was cut off. Stopped when aborted, unless another worker takes over: that one follows it.
 */
export async function followUnit(
  remote: Remote,
  { what, hintFor, ...spec }: FollowedUnit,
  options: FollowUnitOptions,
): Promise<void> {
  const { signal, line, own, secrets = [], isKept } = options;
  const first = await remote.startUnit(spec, firstReadMs);
  const last: string[] = [];
  const lines = new Lines((text) => {
    line(text);
    last.push(text);
    if (last.length > evidenceLines) last.shift();
  });
  const plain = new Lines((text) => own?.(text));
  const take = (bytes: Buffer) => {
    if (own) plain.push(bytes);
    lines.push(redactor.push(bytes));
  };
  const redactor = createRedactor([...remote.secrets, ...secrets]);
  const remove = () => remote.stopUnit(spec.name, spec.fence);
  try {
    const state = await readToEnd(remote, spec.name, take, signal, first);
    plain.end();
    lines.push(redactor.end());
    lines.end();
    const isGood = state.kind === 'ended' && state.code === 0;
    if (!isGood || !isKept) await remove();
    if (isGood) return;
    const evidence = last.join('\n');
    throw failureOf(what, state, evidence, hintFor?.(evidence));
  } catch (error) {
    const isAborted = signal.aborted && error === signal.reason && !(error instanceof Handover);
    if (isAborted) await remove();
    throw error;
  }
}

/** What ended from outside, by a reboot for example, may be begun again; what failed by itself would fail again. */
function failureOf(
  what: string,
  state: Exclude<UnitState, { readonly kind: 'running' }>,
  evidence: string,
  hint: string | undefined,
): Fault {
  if (state.kind === 'absent' || state.lost)
    return new Fault('work_lost', `${what} was interrupted on the server before it could end.`, { evidence });
  const how = `failed on the server with exit code ${state.code}`;
  return new Fault('remote_failed', `${what} ${how}.`, { evidence, ...(hint !== undefined && { hint }) });
}

/**
 * Everything it prints, from its first byte on, until it ends or is gone. Neither starts nor removes it. The server bounds
 * what there is to read; where it does not, because someone else writes there, we take no more than that either.
 */
export async function readToEnd(
  remote: Remote,
  name: string,
  take: (bytes: Buffer) => void,
  signal: AbortSignal,
  first?: UnitOutput,
): Promise<Exclude<UnitState, { readonly kind: 'running' }>> {
  for (let from = 0, known = first; ; known = undefined) {
    signal.throwIfAborted();
    const read = known ?? (await raceAbort(remote.readUnit(name, from, readMs), signal));
    const { state, bytes, next } = read;
    const room = Math.max(0, mostUnitBytes - from);
    if (bytes.length > 0 && room > 0) take(bytes.subarray(0, room));
    from = next;
    if (state.kind !== 'running') return state;
  }
}

/** Whole lines out of bytes that end anywhere, also in the middle of a character. */
export class Lines {
  readonly #emit: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor(emit: (text: string) => void) {
    this.#emit = emit;
  }

  push(bytes: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(bytes)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const each of lines) this.#emit(each);
    while (this.#rest.length > maxLineLength) {
      this.#emit(this.#rest.slice(0, maxLineLength));
      this.#rest = this.#rest.slice(maxLineLength);
    }
  }

  end(): void {
    const rest = this.#rest + this.#decoder.end();
    if (rest !== '') this.#emit(rest);
  }
}
