/** The message for one notice, or for several that came close together. */
import type { Message, Tone } from '../../adapters/connectors/connectors.ts';
import type { Notice } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import type { Secret } from '../../secret.ts';
import { readProject } from '../environments/read-projects.ts';
import { type Names, type NoticeText, noticeText } from './notice-text.ts';
import type { NotificationsContext } from './notifications.ts';

type Context = Pick<NotificationsContext, 'db' | 'publicUrl' | 'secretsOf' | 'environmentHooks'>;

/** More would be a list that nobody reads. */
const maxItems = 20;

interface Composed {
  readonly text: NoticeText;
  readonly link: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Undefined where none of the notices exists any more. */
export async function composeMessage(
  ctx: Context,
  id: string,
  notices: readonly Notice[],
): Promise<Message | undefined> {
  const composed: Composed[] = [];
  for (const notice of notices) composed.push(await compose(ctx, notice));
  const [first, ...others] = composed;
  const last = notices.at(-1);
  if (!first || !last) return undefined;
  if (others.length === 0) {
    const { text, link } = first;
    return { ...text, id, link, event: last.kind, at: last.at, items: [], payload: { id, ...first.payload } };
  }
  const more = composed.length - maxItems;
  const items = composed.slice(0, maxItems).map(({ text }) => `${marks[text.tone]} ${text.title}`);
  return {
    ...emptyMessage,
    id,
    event: 'several',
    tone: worst(composed),
    title: `${composed.length} notices in a short time`,
    at: last.at,
    payload: {
      id,
      type: 'several',
      createdAt: last.at.toISOString(),
      notices: composed.map((each) => each.payload),
    },
    items: more > 0 ? [...items, `and ${more} more`] : items,
  };
}

const emptyMessage = { summary: null, facts: [], lines: [], items: [], link: null } as const;

export function testMessage(id: string, connectorName: string, at: Date, link: string): Message {
  const title = 'This is a test from Slipway';
  const summary = `Messages of the connector «${connectorName}» arrive here.`;
  const payload = { id, type: 'test', createdAt: at.toISOString(), title, summary };
  return { ...emptyMessage, id, event: 'test', tone: 'neutral', title, summary, link, at, payload };
}

const marks: Record<Tone, string> = { good: '✓', bad: '✗', warning: '!', neutral: '·' };

function worst(composed: readonly Composed[]): Tone {
  const order: readonly Tone[] = ['bad', 'warning', 'good', 'neutral'];
  return order.find((tone) => composed.some(({ text }) => text.tone === tone)) ?? 'neutral';
}

async function compose(ctx: Context, notice: Notice): Promise<Composed> {
  const { workspaceId, environmentId, projectId, kind, subject, at } = notice;
  const secrets = environmentId === null ? [] : await ctx.secretsOf(workspaceId, environmentId);
  const names = await namesOf(ctx, notice);
  const data = redactData(notice.data, secrets);
  const text = redactText(noticeText({ kind, data }, names), secrets);
  const link = linkOf(ctx.publicUrl(), notice);
  const payload = {
    type: kind,
    createdAt: at.toISOString(),
    workspaceId,
    title: text.title,
    summary: text.summary,
    project: projectId && { id: projectId, name: names.project },
    environment: environmentId && { id: environmentId, name: names.environment, url: names.address },
    subject,
    url: link,
    data,
  };
  return { text, link, payload };
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
    // Deleted meanwhile.
    if (error instanceof Fault && error.code === 'not_found') return null;
    throw error;
  }
}

/** Where the subject can be read in the API. */
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

function redact(text: string, secrets: readonly Secret[]): string {
  return secrets.length === 0 ? text : redactWhole(Buffer.from(text), secrets).toString('utf8');
}

/** A notice should hold no secret; where it does all the same, it is removed here. */
function redactData(
  data: Readonly<Record<string, unknown>>,
  secrets: readonly Secret[],
): Record<string, unknown> {
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value, secrets);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each)]));
  };
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, walk(value)]));
}

function redactText(text: NoticeText, secrets: readonly Secret[]): NoticeText {
  const write = (each: string) => redact(each, secrets);
  return {
    ...text,
    title: write(text.title),
    summary: text.summary === null ? null : write(text.summary),
    facts: text.facts.map(({ name, value }) => ({ name, value: write(value) })),
    lines: text.lines.length === 0 ? [] : write(text.lines.join('\n')).split('\n'),
  };
}
