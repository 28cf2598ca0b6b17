/**
 * Patterns of paths that others wrote: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders. Matched without
 * going back: the work for one path is at most the length of the pattern times that of the path, whatever either is
 * made of. No regular expression is built of them, since one of a few stars can hold the process for ever.
 */

/** Braces multiply: five of ten alternatives are a hundred thousand patterns. Those with more match nothing. */
const mostAlternatives = 256;

/** One character of a name: itself, any, or one of a set; `star` is any number of any. */
type Sign =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'set';
      readonly isNegated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    };

/** `folders` is any number of names, `some` at least one. */
type Name = readonly Sign[] | 'folders' | 'some';

export interface GlobOptions {
  /** Names that begin with a dot are matched by `*`, `?` and `**` too. */
  readonly dot: boolean;
  /** Work for all paths together; once it is spent, nothing matches. */
  readonly mostSteps?: number;
}

export class Globs {
  readonly #patterns: readonly (readonly Name[])[];
  readonly #dot: boolean;
  #stepsLeft: number;

  constructor(patterns: readonly string[], { dot, mostSteps = Number.POSITIVE_INFINITY }: GlobOptions) {
    this.#dot = dot;
    this.#stepsLeft = mostSteps;
    this.#patterns = patterns.flatMap((pattern) => alternativesOf(pattern) ?? []).map(namesOf);
  }

  get isSpent(): boolean {
    return this.#stepsLeft < 0;
  }

  matches(path: string): boolean {
    if (path === '') return false;
    const names = path.split('/');
    return this.#patterns.some((pattern) => this.#matchesPath(pattern, names));
  }

  /** `reached[n]`: the pattern so far fits the first n names. */
  #matchesPath(pattern: readonly Name[], names: readonly string[]): boolean {
    let reached = [true, ...names.map(() => false)];
    for (const part of pattern) {
      const next = reached.map(() => false);
      let isAny = false;
      for (const [at, isReached] of reached.entries()) {
        this.#stepsLeft -= 1;
        const name = names[at];
        if (part === 'folders' || part === 'some') {
          if (name !== undefined && (isReached || next[at]) && this.#isOpen(name)) next[at + 1] = true;
          if (part === 'folders') next[at] ||= isReached;
        } else if (isReached && name !== undefined && this.#matchesName(part, name)) next[at + 1] = true;
        isAny ||= next[at] ?? false;
      }
      if (!isAny) return false;
      reached = next;
    }
    return reached[names.length] ?? false;
  }

  #isOpen(name: string): boolean {
    return name !== '' && (this.#dot || !name.startsWith('.'));
  }

  /** Where a star is, it takes one character more each time that what follows does not fit. */
  #matchesName(signs: readonly Sign[], name: string): boolean {
    const [first] = signs;
    if (name === '' ? signs.length > 0 : first?.kind !== 'char' && !this.#isOpen(name)) return false;
    let [at, sign, star, taken] = [0, 0, -1, 0];
    while (at < name.length) {
      this.#stepsLeft -= 1;
      if (this.#stepsLeft < 0) return false;
      const here = signs[sign];
      if (here?.kind === 'star') {
        star = sign;
        taken = at;
        sign += 1;
      } else if (here && fits(here, name[at] ?? '')) {
        at += 1;
        sign += 1;
      } else if (star >= 0) {
        taken += 1;
        at = taken;
        sign = star + 1;
      } else return false;
    }
    while (signs[sign]?.kind === 'star') sign += 1;
    return sign === signs.length;
  }
}

function fits(sign: Sign, char: string): boolean {
  if (sign.kind === 'any') return true;
  if (sign.kind === 'char') return sign.char === char;
  if (sign.kind === 'star') return false;
  return sign.ranges.some(([from, to]) => from <= char && char <= to) !== sign.isNegated;
}

function namesOf(pattern: string): readonly Name[] {
  const parts = (pattern.startsWith('./') ? pattern.slice(2) : pattern).split('/');
  const names = parts.map((part): Name => (part === '**' ? 'folders' : signsOf(part)));
  // As others read it, `a/**` is `a` too, and `*/**` is not `*`.
  const before = parts.findLast((part) => part !== '**') ?? '';
  return parts.at(-1) === '**' && before.endsWith('*') ? [...names.slice(0, -1), 'some'] : names;
}

function signsOf(part: string): readonly Sign[] {
  const signs: Sign[] = [];
  for (let at = 0; at < part.length; at += 1) {
    const char = part[at] ?? '';
    const end = char === '[' ? setEnd(part, at) : -1;
    if (char === '*') {
      if (signs.at(-1)?.kind !== 'star') signs.push({ kind: 'star' });
    } else if (char === '?') signs.push({ kind: 'any' });
    else if (end !== -1) {
      signs.push(setOf(part.slice(at + 1, end)));
      at = end;
    } else if (char === '\\' && at + 1 < part.length) {
      at += 1;
      signs.push({ kind: 'char', char: part[at] ?? '' });
    } else signs.push({ kind: 'char', char });
  }
  return signs;
}

/** A bracket right at the beginning of a set belongs to it. -1: it is no set. */
function setEnd(text: string, start: number): number {
  let at = start + 1;
  if (text[at] === '!' || text[at] === '^') at += 1;
  if (text[at] === ']') at += 1;
  return text.indexOf(']', at);
}

function setOf(inside: string): Sign {
  const isNegated = /^[!^]/.test(inside);
  const chars = isNegated ? inside.slice(1) : inside;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const from = chars[at] ?? '';
    const to = chars[at + 1] === '-' ? chars[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return { kind: 'set', isNegated, ranges };
}

/** `a{b,c}` is `ab` and `ac`. Undefined: they are too many. Braces without a comma, or without an end, are themselves. */
export function alternativesOf(pattern: string): readonly string[] | undefined {
  let done = [''];
  let from = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === '{') {
      const group = groupAt(pattern, at);
      if (group === undefined) continue;
      const choices: string[] = [];
      for (const each of group.choices) {
        const inner = alternativesOf(each);
        if (inner === undefined || choices.length + inner.length > mostAlternatives) return undefined;
        choices.push(...inner);
      }
      if (done.length * choices.length > mostAlternatives) return undefined;
      const before = pattern.slice(from, at);
      done = done.flatMap((start) => choices.map((choice) => start + before + choice));
      at = group.end;
      from = at + 1;
    }
  }
  return done.map((start) => start + pattern.slice(from));
}

function groupAt(pattern: string, start: number): { end: number; choices: readonly string[] } | undefined {
  const choices: string[] = [];
  let [depth, from] = [0, start + 1];
  for (let at = start; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '\\') at += 1;
    else if (char === '{') depth += 1;
    else if (char === ',' && depth === 1) {
      choices.push(pattern.slice(from, at));
      from = at + 1;
    } else if (char === '}') {
      depth -= 1;
      if (depth > 0) continue;
      return choices.length === 0 ? undefined : { end: at, choices: [...choices, pattern.slice(from, at)] };
    }
  }
  return undefined;
}
