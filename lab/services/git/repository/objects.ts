/** Reads objects: one `git cat-file` for however many are wanted. */
import type { BareRepository } from './git.ts';

export interface ObjectHead {
  readonly sha: string;
  readonly type: string;
  readonly size: number;
}

export interface GitObject extends ObjectHead {
  readonly content: Buffer;
}

/** In the order asked; `undefined` for what is not there or not the only one of that name. */
export async function describeObjects(
  repository: BareRepository,
  names: readonly string[],
): Promise<(ObjectHead | undefined)[]> {
  const output = await repository.run(['cat-file', '--batch-check'], linesOf(names));
  return output.toString().split('\n').slice(0, names.length).map(headOf);
}

export async function readObjects(
  repository: BareRepository,
  names: readonly string[],
): Promise<(GitObject | undefined)[]> {
  if (names.length === 0) return [];
  const output = await repository.run(['cat-file', '--batch'], linesOf(names));
  let at = 0;
  return names.map(() => {
    const end = output.indexOf(10, at);
    const head = headOf(output.toString('utf8', at, end));
    at = end + 1;
    if (!head) return undefined;
    const content = output.subarray(at, at + head.size);
    at += head.size + 1;
    return { ...head, content };
  });
}

function linesOf(names: readonly string[]): string {
  if (names.some((name) => name.includes('\n'))) throw new Error('The name of an object has no line break.');
  return names.map((name) => `${name}\n`).join('');
}

function headOf(line: string): ObjectHead | undefined {
  const [, sha, type, size] = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)$/.exec(line) ?? [];
  return sha && type ? { sha, type, size: Number(size) } : undefined;
}
