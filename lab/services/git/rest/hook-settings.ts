/** What a request may say of a hook, and when GitHub refuses it. */
import type { Hook } from '../state.ts';
import { type FieldProblem, validationFailed } from './answers.ts';

export type HookSettings = Pick<Hook, 'active' | 'events' | 'url' | 'contentType' | 'secret' | 'insecureSsl'>;

const mostPerEvent = 20;
/** Those GitHub has and a deployment service could want; only the first four ever happen here. */
const knownEvents = new Set(
  '* push create delete ping branch_protection_rule check_run check_suite code_scanning_alert commit_comment deploy_key deployment deployment_status discussion fork gollum issue_comment issues label member merge_group meta milestone package page_build public pull_request pull_request_review pull_request_review_comment registry_package release repository repository_vulnerability_alert star status team_add watch workflow_job workflow_run'.split(
    ' ',
  ),
);

const problem = (field: string, message: string): FieldProblem => ({
  resource: 'Hook',
  field,
  code: 'custom',
  message,
});

/** What is not said stays as it was, or becomes GitHub's default. */
export function hookSettings(body: Readonly<Record<string, unknown>>, old: Hook | undefined): HookSettings {
  const { name = 'web', active = old?.active ?? true } = body;
  if (name !== 'web') throw validationFailed(problem('name', 'Name must be web'));
  if (typeof active !== 'boolean') throw validationFailed(problem('active', 'active must be true or false'));
  return { active, events: eventsFrom(body, old), ...configFrom(body.config, old) };
}

function configFrom(config: unknown = {}, old: Hook | undefined): Omit<HookSettings, 'active' | 'events'> {
  if (typeof config !== 'object' || config === null)
    throw validationFailed(problem('config', 'config must be an object'));
  const given: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(config));
  // A new config takes the place of the whole old one; GitHub even forgets a secret that is not said again.
  const kept = Object.keys(given).length > 0 ? undefined : old;
  const { url = kept?.url } = given;
  const { content_type: contentType = kept?.contentType ?? 'form' } = given;
  const { insecure_ssl: insecure = kept?.insecureSsl ? '1' : '0' } = given;
  const { secret = kept?.secret ?? null } = given;
  if (typeof url !== 'string' || url === '') throw validationFailed(problem('url', 'url cannot be blank'));
  if (!isHttp(url)) throw validationFailed(problem('url', 'url is not a valid http or https address'));
  if (contentType !== 'json' && contentType !== 'form')
    throw validationFailed(problem('content_type', 'content_type must be json or form'));
  if (secret !== null && typeof secret !== 'string')
    throw validationFailed(problem('secret', 'secret must be a string'));
  return { url, contentType, secret: secret || null, insecureSsl: String(insecure) === '1' };
}

function eventsFrom(body: Readonly<Record<string, unknown>>, old: Hook | undefined): string[] {
  const whole = textList(body.events, 'events') ?? old?.events ?? ['push'];
  const added = textList(body.add_events, 'add_events') ?? [];
  const removed = textList(body.remove_events, 'remove_events') ?? [];
  const events = [...new Set([...whole, ...added])].filter((event) => !removed.includes(event));
  const unknown = events.filter((event) => !knownEvents.has(event));
  if (unknown.length > 0)
    throw validationFailed(problem('events', `These events are not supported: ${unknown.join(', ')}`));
  if (events.length === 0) throw validationFailed(problem('events', 'events cannot be empty'));
  return events;
}

function textList(value: unknown, field: string): string[] | undefined {
  if (value === undefined) return undefined;
  const isText = (item: unknown): item is string => typeof item === 'string';
  if (Array.isArray(value) && value.every(isText)) return value;
  throw validationFailed(problem(field, `${field} must be a list of names`));
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Hooks may share their settings as long as they share no event. */
export function checkHook(wanted: HookSettings, others: readonly Hook[]): void {
  const twin = others.some(
    (other) =>
      other.url === wanted.url &&
      other.contentType === wanted.contentType &&
      other.insecureSsl === wanted.insecureSsl &&
      other.events.some((event) => wanted.events.includes(event)),
  );
  if (twin)
    throw validationFailed({
      resource: 'Hook',
      code: 'custom',
      message: 'Hook already exists on this repository',
    });
  for (const event of wanted.events) {
    if (others.filter((other) => other.events.includes(event)).length < mostPerEvent) continue;
    const message = `The "${event}" event cannot have more than ${mostPerEvent} hooks`;
    throw validationFailed({ resource: 'Hook', code: 'custom', message });
  }
}
