/**
 * One certificate, from the order to its chain (RFC 8555, section 7.4). All names are answered for before any is waited
 * for, so that the authority looks at them side by side; what it refuses is told for every name at once.
 */
import type { KeyObject } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Fault } from '../../fault.ts';
import { thumbprintOf } from './account-key.ts';
import {
  challengeFailed,
  type FailedName,
  nonsense,
  notOffered,
  rateLimited,
  refused,
  unfinished,
} from './acme-faults.ts';
import type { Answer, Authority, Signer } from './authority.ts';
import { AcmeProblem, ProblemDocument, shown } from './problem.ts';
import { signingRequest } from './signing-request.ts';

/** Called before the authority is told to look: fails where it would look in vain. */
export type Preflight = (token: string, keyAuthorization: string, name: string) => Promise<void>;

export interface OrderPlan {
  readonly signer: Signer;
  readonly names: readonly string[];
  readonly certificateKey: KeyObject;
  readonly preflight: Preflight;
  /** The name, for renewal, of the certificate that this one takes the place of. */
  readonly replaces: string | undefined;
  readonly signal: AbortSignal;
  /** When `signal` ends it, so that no wait is begun that cannot end in time. */
  readonly deadline: number;
  readonly now: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const Address = Type.String({ pattern: '^https?://' });
const Order = Type.Object({
  status: Type.Enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: Type.Array(Address, { minItems: 1, maxItems: 200 }),
  finalize: Address,
  certificate: Type.Optional(Address),
  error: Type.Optional(ProblemDocument),
});
const Challenge = Type.Object({
  type: Type.String(),
  url: Type.Optional(Address),
  token: Type.Optional(Type.String()),
  error: Type.Optional(ProblemDocument),
  validationRecord: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
});
const Authorization = Type.Object({
  status: Type.Enum(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  identifier: Type.Object({ value: Type.String() }),
  challenges: Type.Array(Challenge),
});
type Order = Static<typeof Order>;
type Authorization = Static<typeof Authorization>;

const firstWaitMs = 500;
const mostWaitMs = 10_000;

/** The chain in PEM, as the authority sent it. */
export async function placeOrder(authority: Authority, plan: OrderPlan): Promise<string> {
  const { signer, names, signal } = plan;
  const { url, order } = await begin(authority, plan);
  const answered: string[] = [];
  for (const each of order.authorizations) if (await answer(authority, plan, each)) answered.push(each);
  const failed: FailedName[] = [];
  for (const each of answered) {
    const done = await authorizationOnceDone(authority, plan, each);
    if (done.status !== 'valid') failed.push(whyFailed(done));
  }
  const [first, ...others] = failed;
  if (first) throw challengeFailed(authority.label, [first, ...others]);

  const ready = await orderOnce(authority, plan, url, ['ready', 'valid']);
  if (ready.status === 'ready') {
    const csr = signingRequest(plan.certificateKey, names).toString('base64url');
    await authority.post(signer, ready.finalize, { csr }, signal);
  }
  const { certificate } = await orderOnce(authority, plan, url, ['valid']);
  if (!certificate) throw nonsense(authority.label, 'the order is done, and has no certificate');
  return (await authority.read(signer, certificate, signal)).text;
}

async function begin(
  authority: Authority,
  { signer, names, replaces, signal }: OrderPlan,
): Promise<{ url: string; order: Order }> {
  const { newOrder } = await authority.directory(signal);
  const identifiers = names.map((value) => ({ type: 'dns', value }));
  const ask = (more: object) => authority.post(signer, newOrder, { identifiers, ...more }, signal);
  const answer = replaces === undefined ? await ask({}) : await ask({ replaces }).catch(withoutReplacing);
  const url = answer.headers.get('location') ?? '';
  if (!URL.canParse(url)) throw nonsense(authority.label, 'it does not say where the order is');
  return { url, order: authority.shaped(Order, answer) };

  /** To say what is replaced is a courtesy that lifts limits; one that the authority does not know is no obstacle. */
  function withoutReplacing(error: unknown): Promise<Answer> {
    // Some that do not know it answer with an error of their own, 500, in place of a refusal.
    const isObstacle =
      error instanceof Fault &&
      (error.code === 'acme_refused' ||
        (error.code === 'acme_unreachable' && error.retryAfterSeconds === undefined));
    if (isObstacle) return ask({});
    throw error;
  }
}

/** False where the name needs no proof any more. */
async function answer(authority: Authority, plan: OrderPlan, url: string): Promise<boolean> {
  const { signer, signal } = plan;
  const found = authority.shaped(Authorization, await authority.read(signer, url, signal));
  if (found.status === 'valid') return false;
  if (found.status !== 'pending') return true;
  const name = shown(found.identifier.value);
  const challenge = found.challenges.find(({ type }) => type === 'http-01');
  if (!challenge)
    throw notOffered(
      authority.label,
      `to look at ${name} over HTTP`,
      'A wildcard can only be proven by DNS.',
    );
  const { token = '', url: at } = challenge;
  // It becomes a path on the servers, and the first half of what they answer with.
  if (!/^[\w-]{22,256}$/.test(token) || at === undefined)
    throw nonsense(authority.label, `the challenge for ${name} has no token, or one that is not allowed`);
  await plan.preflight(token, `${token}.${thumbprintOf(signer.key)}`, name);
  signal.throwIfAborted();
  await authority.post(signer, at, {}, signal);
  return true;
}

async function authorizationOnceDone(
  authority: Authority,
  plan: OrderPlan,
  url: string,
): Promise<Authorization> {
  const read = async () => {
    const answer = await authority.read(plan.signer, url, plan.signal);
    return { answer, state: authority.shaped(Authorization, answer) };
  };
  return polled(authority, plan, 'looking at the server', read, ({ status }) => status !== 'pending');
}

async function orderOnce(
  authority: Authority,
  plan: OrderPlan,
  url: string,
  wanted: readonly Order['status'][],
): Promise<Order> {
  const read = async () => {
    const answer = await authority.read(plan.signer, url, plan.signal);
    const state = authority.shaped(Order, answer);
    if (state.status === 'invalid') throw orderRefused(authority, state);
    return { answer, state };
  };
  return polled(authority, plan, 'the order', read, ({ status }) => wanted.includes(status));
}

function orderRefused({ label }: Authority, { error }: Order): Fault {
  const problem = new AcmeProblem(
    error ?? { type: 'invalid', detail: 'the order is invalid, without a reason' },
  );
  return problem.is('rateLimited') ? rateLimited(label, problem, undefined) : refused(label, problem);
}

async function polled<T extends { readonly status: string }>(
  authority: Authority,
  { signal, deadline, now, wait }: OrderPlan,
  what: string,
  read: () => Promise<{ readonly answer: Answer; readonly state: T }>,
  isDone: (state: T) => boolean,
): Promise<T> {
  for (let ms = firstWaitMs; ; ms = Math.min(ms * 2, mostWaitMs)) {
    const { answer, state } = await read();
    if (isDone(state)) return state;
    const retryAfter = authority.retryAfter(answer);
    // It may say zero, which is no leave to ask without end.
    const waitMs = retryAfter === undefined ? ms : Math.max(retryAfter * 1000, firstWaitMs);
    if (now() + waitMs >= deadline) throw unfinished(authority.label, what, state.status, retryAfter);
    await wait(waitMs, signal);
  }
}

function whyFailed({ identifier, status, challenges }: Authorization): FailedName {
  const name = shown(identifier.value);
  const failed = challenges.find(({ error }) => error !== undefined);
  const problem = new AcmeProblem(
    failed?.error ?? { type: status, detail: `the proof for ${name} is ${status}` },
  );
  const seen = (failed?.validationRecord ?? []).map((record) => {
    const text = (key: string) => (typeof record[key] === 'string' ? record[key] : undefined);
    const address = text('addressUsed');
    return [text('url') ?? text('hostname'), address && `at ${address}`].filter(Boolean).join(' ');
  });
  return { name, problem, seen: seen.length > 0 ? `looked at ${seen.join(', then ')}` : '' };
}
