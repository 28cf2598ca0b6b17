/** A value with its evidence: the file that says it. Nothing in a result is without. */
export interface Source {
  readonly file: string;
  readonly line?: number;
  /** What was seen there, in a few words. */
  readonly note: string;
}

/** Of a field of the result, as in `apps[0].startCommand`. */
export type FieldEvidence = Source & { readonly field: string };

export interface Evidenced<T> {
  readonly value: T;
  readonly source: Source;
  /** From 0 to 1: a file that says it outright has 1, a convention of the framework 0.7, a guess 0.3. */
  readonly certainty: number;
}

export const certain = 1;
export const conventional = 0.7;
export const guessed = 0.3;

export function evidenced<T>(
  value: T,
  certainty: number,
  file: string,
  note: string,
  line?: number,
): Evidenced<T> {
  return { value, certainty, source: line === undefined ? { file, note } : { file, note, line } };
}

/** For a value that stands in a line. */
export function evidencedBy<T>(
  hit: { readonly file: string; readonly line: number; readonly text: string },
  value: T,
  certainty = certain,
): Evidenced<T> {
  return evidenced(value, certainty, hit.file, hit.text.trim().slice(0, 80), hit.line);
}
