/** What an authority says when it does not do what it was asked (RFC 7807, with the types of RFC 8555). */
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../fault.ts';

const Subproblem = Type.Object({
  type: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  identifier: Type.Optional(Type.Object({ value: Type.String() })),
});
export const ProblemDocument = Type.Object({
  type: Type.String({ minLength: 1 }),
  detail: Type.Optional(Type.String()),
  subproblems: Type.Optional(Type.Array(Subproblem)),
});
export type ProblemDocument = Static<typeof ProblemDocument>;

export type ProblemType =
  | 'accountDoesNotExist'
  | 'alreadyReplaced'
  | 'alreadyRevoked'
  | 'badNonce'
  | 'rateLimited';

const prefix = 'urn:ietf:params:acme:error:';
const mostShown = 600;
const mostNames = 20;

/** The cause of a fault that the authority gave a reason for. */
export class AcmeProblem extends Error {
  readonly type: string;
  /** Each name that it is about, and why. */
  readonly about: readonly { readonly name: string; readonly detail: string }[];

  constructor({ type, detail, subproblems = [] }: ProblemDocument) {
    super(shown(detail ?? '') || shortType(type));
    this.name = 'AcmeProblem';
    this.type = shortType(type);
    this.about = subproblems.slice(0, mostNames).map((each) => ({
      name: shown(each.identifier?.value ?? 'the order'),
      detail: shown(each.detail ?? '') || shortType(each.type ?? 'unknown'),
    }));
  }

  is(type: ProblemType): boolean {
    return this.type === type;
  }
}

export function problemIn(value: unknown): AcmeProblem | undefined {
  return Value.Check(ProblemDocument, value) ? new AcmeProblem(value) : undefined;
}

/** Whether an authority gave that reason, as when it has forgotten an account. */
export function saysAuthority(error: unknown, type: ProblemType): boolean {
  return error instanceof Fault && error.cause instanceof AcmeProblem && error.cause.is(type);
}

/** Of a type that is not one of the standard's, the whole. */
function shortType(type: string): string {
  return shown(type.startsWith(prefix) ? type.slice(prefix.length) : type);
}

/** Foreign words in one line, and not too many of them. */
export function shown(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return line.length > mostShown ? `${line.slice(0, mostShown)}…` : line;
}

/** When it wants to be asked again, in seconds from now: by its header, or only in its words. A date that has passed is none. */
export function retryAfterOf(headers: Headers, words: string, now: Date): number | undefined {
  const header = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(header)) return Number(header);
  return secondsUntil(Date.parse(header), now) ?? retryAfterIn(words, now);
}

/** Let's Encrypt ends its sentence with «retry after 2026-03-01 12:00:00 UTC: see …». */
function retryAfterIn(words: string, now: Date): number | undefined {
  const found = /retry after (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)/i.exec(words);
  return found ? secondsUntil(Date.parse(`${found[1]}T${found[2]}Z`), now) : undefined;
}

function secondsUntil(time: number, now: Date): number | undefined {
  const seconds = Math.ceil((time - now.getTime()) / 1000);
  return seconds > 0 ? seconds : undefined;
}
