/** A delivery from a provider, from its raw bytes to what became of it. */
import type { GitHostKind } from '../../adapters/git-hosts/git-hosts.ts';
import { type Delivery, readDelivery, verifyDelivery } from '../../adapters/git-hosts/webhooks/webhooks.ts';
import { Fault } from '../../fault.ts';
import { type HookId, isId, type ProjectId, type WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { lockPushed } from '../environments/pushed-environments.ts';
import { type RepositoryKind, sourceOf } from '../projects/projects.ts';
import { readableRepository, readSource } from '../projects/read-source.ts';
import { decide, type Push, type Reason } from './decide.ts';
import {
  type DeliverySource,
  handlePush,
  type PushesContext,
  recordDelivery,
  secretPlace,
} from './pushes.ts';
import * as queries from './queries.ts';

export type HeaderLines = Readonly<Record<string, string | string[] | undefined>>;

/** A hook, with the repository that its project is about. */
export interface Receiver extends queries.HookRow {
  readonly repositoryKind: RepositoryKind;
  readonly repositoryId: string | null;
  readonly fullName: string;
}

/** Asked before the body is read: an address that nobody was given gets to send us nothing. */
export async function findReceiver(ctx: PushesContext, kind: string, id: string): Promise<Receiver> {
  const nobody = new Fault('not_found', 'There is no webhook at this address.', {
    hint: 'The project was deleted, or its webhook made anew. Install it again, or remove it at the Git host.',
  });
  // This is asked before the path is checked against its schema.
  const hook = isId<HookId>(id) ? await queries.findHook(ctx.db, id) : undefined;
  if (!hook) throw nobody;
  const source = await readSource(ctx.db, hook.workspaceId, hook.projectId);
  if (source.repositoryKind !== 'url' && source.repositoryKind !== kind) throw nobody;
  const { repositoryKind, repositoryId, fullName } = source;
  return { ...hook, repositoryKind, repositoryId, fullName };
}

export async function receiveDelivery(
  ctx: PushesContext,
  hook: Receiver,
  kind: GitHostKind,
  headers: HeaderLines,
  body: Buffer,
): Promise<{ reasons: Reason[] }> {
  const { workspaceId, projectId } = hook;
  const secret = await ctx.sealer.open(ctx.db, secretPlace(workspaceId, hook.id), hook.secretSealed);
  const nothing = { branch: null, sha: null };
  const refuse = async (reason: Reason) => {
    const source: DeliverySource = { via: 'webhook', event: 'unknown', deliveryId: null };
    await ctx.db.transaction((tx) =>
      recordDelivery(ctx, tx, workspaceId, projectId, source, nothing, [], reason),
    );
  };
  if (!verifyDelivery(kind, headers, body, secret)) {
    await refuse('signature_invalid');
    throw new Fault('signature_invalid', 'The signature of the delivery is missing or wrong.', {
      hint: 'Paste the webhook’s secret in again, or make a new one.',
    });
  }
  const read = await readOrRefuse(kind, headers, body, () => refuse('unreadable'));
  const branches = await branchesIfNeeded(ctx, hook, read);
  return ctx.db.transaction(async (tx) => {
    await queries.setHeard(tx, hook.id, ctx.clock.now());
    const reasons: Reason[] = [];
    for (const delivery of read) {
      const source: DeliverySource = {
        via: 'webhook',
        event: delivery.type,
        deliveryId: delivery.deliveryId,
      };
      if (delivery.type !== 'push') {
        if (delivery.type === 'other')
          reasons.push(await recordDelivery(ctx, tx, workspaceId, projectId, source, nothing, [], 'no_push'));
        continue;
      }
      const push = pushOf(delivery, branches);
      reasons.push(
        isOfOther(hook, delivery)
          ? await recordDelivery(ctx, tx, workspaceId, projectId, source, push, [], 'other_repository')
          : await handlePush(ctx, tx, workspaceId, projectId, source, push),
      );
    }
    return { reasons };
  });
}

async function readOrRefuse(
  kind: GitHostKind,
  headers: HeaderLines,
  body: Buffer,
  refuse: () => Promise<void>,
): Promise<readonly Delivery[]> {
  try {
    return readDelivery(kind, headers, parseBody(headers, body));
  } catch (error) {
    if (error instanceof Fault) await refuse();
    throw error;
  }
}

/** JSON, or the form that GitHub sends where nobody chose otherwise. */
function parseBody(headers: HeaderLines, body: Buffer): unknown {
  const isForm = String(headers['content-type']).startsWith('application/x-www-form-urlencoded');
  const text = isForm
    ? (new URLSearchParams(body.toString('utf8')).get('payload') ?? '')
    : body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Fault('invalid_input', 'The body of the delivery is not JSON.', { cause });
  }
}

type Branches = ReadonlyMap<string, string>;

/** A provider waits for ten seconds at most. */
const askMs = 7_000;

/** What the branches are at, where the delivery would deploy; undefined where the repository does not say. */
async function branchesIfNeeded(
  ctx: PushesContext,
  hook: Receiver,
  read: readonly Delivery[],
): Promise<Branches | undefined> {
  const { workspaceId, projectId } = hook;
  const pushes = read.flatMap((each) => (each.type === 'push' && !isOfOther(hook, each) ? [each] : []));
  const environments = await ctx.db.transaction((tx) => lockPushed(tx, workspaceId, projectId));
  const told = pushes.map((each) => pushOf(each, undefined));
  if (!told.some((push) => environments.some((each) => decide(each, push) === 'unconfirmed')))
    return undefined;
  try {
    const repository = await readableRepository(ctx, workspaceId, projectId);
    const source = await sourceOf(ctx, workspaceId, repository);
    return (await (await ctx.mirrors()).refs(source, AbortSignal.timeout(askMs))).branches;
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    if (!(error instanceof Fault) && !isLate) throw error;
    return undefined;
  }
}

function isCurrent(branches: Branches | undefined, branch: string | null, sha: string): Push['isCurrent'] {
  if (branches === undefined || branch === null) return 'unknown';
  return branches.get(branch) === sha ? 'yes' : 'no';
}

function pushOf(delivery: Extract<Delivery, { type: 'push' }>, branches: Branches | undefined): Push {
  const { ref, after, isDeleted, isForced, isTruncated, commits, headMessage } = delivery;
  const isWhole = !isTruncated && !isForced && commits.every(({ added }) => added !== null);
  const changed = commits.flatMap(({ added, modified, removed }) => [
    ...(added ?? []),
    ...(modified ?? []),
    ...(removed ?? []),
  ]);
  const branch = ref.type === 'branch' ? ref.name : null;
  return {
    branch,
    isCurrent: isCurrent(branches, branch, after),
    sha: isDeleted ? null : after,
    isDeleted,
    message: headMessage,
    changedPaths: isWhole && commits.length > 0 ? changed : null,
  };
}

function isOfOther(hook: Receiver, { repository }: Extract<Delivery, { type: 'push' }>): boolean {
  if (hook.repositoryKind === 'url') return false;
  if (hook.repositoryId !== null) return hook.repositoryId !== repository.id;
  return hook.fullName.toLowerCase() !== repository.fullName.toLowerCase();
}

/** What arrived for a project, and what became of it. */
export async function listWebhookDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
  page: Page,
) {
  await readSource(db, workspaceId, id);
  const { before, limit } = page;
  const rows = await queries.listDeliveries(db, workspaceId, id, { before, limit: limit + 1 });
  return page.answer(rows, ({ receivedAt, environments, ...rest }) => ({
    ...rest,
    environments: [...environments],
    receivedAt: receivedAt.toISOString(),
  }));
}
