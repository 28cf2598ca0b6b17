/** From notices to the message that tells them: one for one, or one for several that came close together. */
import type { Message, Tone } from '../../adapters/connectors/connectors.ts';
import type { Notice } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import type { Secret } from '../../secret.ts';
import { readProject } from '../environments/read-projects.ts';
import { type Names, type Words, wordsOf } from './notice-words.ts';
import type { NotificationsContext } from './notifications.ts';

type Context = Pick<NotificationsContext, 'db' | 'publicUrl' | 'secretsOf' | 'environmentHooks'>;

/** More would be a list that nobody reads. */
const mostItems = 20;

interface Told extends Words {
  readonly notice: Notice;
  readonly names: Names;
  readonly link: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Undefined where there is nothing left to tell. */
export async function composeMessage(
  ctx: Context,
  id: string,
  notices: readonly Notice[],
): Promise<Message | undefined> {
  const told: Told[] = [];
  for (const notice of notices) told.push(await tell(ctx, notice));
  const [first, ...others] = told;
  if (!first) return undefined;
  if (others.length === 0) {
    const { tone, title, summary, facts, lines, link, notice } = first;
    const payload = { id, ...first.payload };
    return {
      id,
      event: notice.kind,
      tone,
      title,
      summary,
      facts,
      lines,
      link,
      at: notice.at,
      items: [],
      payload,
    };
  }
  const last = told.at(-1) ?? first;
  const more = told.length - mostItems;
  const items = told.slice(0, mostItems).map(({ title, tone }) => `${marks[tone]} ${title}`);
  const payload = {
    id,
    type: 'several',
    createdAt: last.notice.at.toISOString(),
    notices: told.map((each) => each.payload),
  };
  return {
    id,
    event: 'several',
    tone: worst(told),
    title: `${told.length} notices in a short time`,
    summary: null,
    facts: [],
    lines: [],
    link: null,
    at: last.notice.at,
    payload,
    items: more > 0 ? [...items, `and ${more} more`] : items,
  };
}

export function testMessage(id: string, connectorName: string, at: Date, link: string): Message {
  const title = 'This is a test from Slipway';
  const summary = `Messages of the connector «${connectorName}» arrive here.`;
  const payload = { id, type: 'test', createdAt: at.toISOString(), title, summary };
  return {
    id,
    event: 'test',
    tone: 'neutral',
    title,
    summary,
    facts: [],
    lines: [],
    items: [],
    link,
    at,
    payload,
  };
}

const marks: Record<Tone, string> = { good: '✓', bad: '✗', warning: '!', neutral: '·' };

function worst(told: readonly Told[]): Tone {
  const order: readonly Tone[] = ['bad', 'warning', 'good', 'neutral'];
  return order.find((tone) => told.some((each) => each.tone === tone)) ?? 'neutral';
}

async function tell(ctx: Context, notice: Notice): Promise<Told> {
  const { workspaceId, environmentId, projectId, kind, subject, at } = notice;
  const secrets = environmentId === null ? [] : await ctx.secretsOf(workspaceId, environmentId);
  const names = await namesOf(ctx, notice);
  const data = clean(notice.data, secrets);
  const words = cleanWords(wordsOf({ kind, data }, names), secrets);
  const link = linkOf(ctx.publicUrl(), notice);
  const payload = {
    type: kind,
    createdAt: at.toISOString(),
    workspaceId,
    title: words.title,
    summary: words.summary,
    project: projectId && { id: projectId, name: names.project },
    environment: environmentId && { id: environmentId, name: names.environment, url: names.address },
    subject,
    url: link,
    data,
  };
  return { ...words, notice, names, link, payload };
}

async function namesOf(
  ctx: Context,
  { workspaceId, projectId, environmentId, data }: Notice,
): Promise<Names> {
  const given = typeof data.environmentName === 'string' ? data.environmentName : null;
  const project = projectId && (await projectIfThere(ctx, workspaceId, projectId));
  if (!project) return { project: null, environment: given, address: null };
  const environment = project.environments.find(({ id }) => id === environmentId);
  return {
    project: project.name,
    environment: environment?.name ?? given,
    address: environment?.url ?? null,
  };
}

async function projectIfThere(ctx: Context, workspaceId: WorkspaceId, id: ProjectId) {
  try {
    return await readProject(ctx.db, ctx.environmentHooks, workspaceId, id);
  } catch (error) {
    // Deleted meanwhile: what happened before has happened all the same.
    if (error instanceof Fault && error.code === 'not_found') return null;
    throw error;
  }
}

/** Where the thing itself can be asked for. */
function linkOf(base: string, { subject, environmentId }: Notice): string | null {
  const api = `${base.replace(/\/$/, '')}/api/v1`;
  const { type, id } = subject;
  if (type === 'deployment') return environmentId && `${api}/environments/${environmentId}/deployments/${id}`;
  if (type === 'backup') return environmentId && `${api}/environments/${environmentId}/backups/${id}`;
  if (type === 'certificate') return environmentId && `${api}/environments/${environmentId}/domains`;
  const places: Record<string, string> = {
    environment: `${api}/environments/${id}`,
    server: `${api}/servers/${id}`,
    domain: `${api}/domains/${id}`,
    git_provider: `${api}/git-providers`,
  };
  return places[type] ?? null;
}

function cleanText(text: string, secrets: readonly Secret[]): string {
  return secrets.length === 0 ? text : redactWhole(Buffer.from(text), secrets).toString('utf8');
}

/** What was raised should hold no secret; where it does all the same, it ends here. */
function clean(data: Readonly<Record<string, unknown>>, secrets: readonly Secret[]): Record<string, unknown> {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return cleanText(value, secrets);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each)]));
  };
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, walk(value)]));
}

function cleanWords(words: Words, secrets: readonly Secret[]): Words {
  const write = (text: string) => cleanText(text, secrets);
  return {
    ...words,
    title: write(words.title),
    summary: words.summary === null ? null : write(words.summary),
    facts: words.facts.map(({ name, value }) => ({ name, value: write(value) })),
    lines: write(words.lines.join('\n'))
      .split('\n')
      .filter((_, index) => words.lines.length > 0 || index > 0),
  };
}
