/**
 * What the audit log says of a request, from its declaration: who, which operation, about what, and the fields that were
 * sent. A text is shown only where its field is known to hold no secret; everybody's own secrets are in some text.
 */
import type { FastifyRequest } from 'fastify';
import { type Actor, type NewEntry, type Subject, writeAccountEntry, writeEntry } from '../events/audit.ts';
import { isId, type WorkspaceId } from '../ids.ts';
import { type ChangeNote, type NoteDetails, notingChanges } from '../store/change-note.ts';
import type { Queryable } from '../store/database.ts';
import { principalOf } from './scope.ts';

/** Fields whose texts are shown, wherever they stand. */
const shown: ReadonlySet<string> = new Set(
  `abilities app branch cron events expiresAt fullName healthPath host hostname key kind label method mode name network provider role
  rootDirectory steps target timezone type username version www`.split(/\s+/),
);
const hidden = '…';
const most = { items: 20, fields: 40, depth: 5, text: 200 } as const;

/** What a call on these makes, where its answer has an id. */
const made: Readonly<Record<string, string>> = {
  servers: 'server',
  clusters: 'cluster',
  projects: 'project',
  environments: 'environment',
  deployments: 'deployment',
  rollback: 'deployment',
  upload: 'deployment',
  trigger: 'backup',
  domains: 'domain',
  'notification-connectors': 'connector',
  'api-tokens': 'api_token',
  'save-token': 'git_provider',
};
const types: Readonly<Record<string, string>> = {
  ...made,
  backups: 'backup',
  'git-providers': 'git_provider',
  invitations: 'invitation',
  members: 'member',
  operations: 'operation',
  passkeys: 'passkey',
  project: 'project',
  sessions: 'session',
  variables: 'variable',
  workspaces: 'workspace',
};

export class AuditNote implements ChangeNote {
  readonly #request: FastifyRequest;
  #subject: Subject | undefined;
  #workspaceId: WorkspaceId | undefined;
  #before: Readonly<Record<string, unknown>> | undefined;

  constructor(request: FastifyRequest) {
    this.#request = request;
    this.#subject = subjectOf(request);
    this.#workspaceId = request.scope?.workspaceId;
  }

  /** What the request has made, as its answer tells. */
  hasMade(body: unknown): void {
    const last = pathOf(this.#request).at(-1) ?? '';
    const { id, subject } = Object(body);
    const type = made[last];
    // An operation has made nothing yet: it is about what the path names.
    if (type !== undefined && typeof id === 'string' && !subject) this.#subject = { type, id };
  }

  /** Said by a use case: what was there before, or where the request belongs that names no workspace. */
  add({ subject, workspaceId, before }: NoteDetails): void {
    this.#subject = subject ?? this.#subject;
    this.#workspaceId = workspaceId ?? this.#workspaceId;
    this.#before = before ?? this.#before;
  }

  readonly write = async (tx: Queryable): Promise<void> => {
    const { accountId, credential } = principalOf(this.#request);
    const actor: Actor =
      credential.kind === 'token'
        ? { kind: 'token', accountId, tokenId: credential.id }
        : { kind: 'person', accountId };
    const sent = valuesOf(this.#request.body, 0);
    const changes = {
      ...(typeof sent === 'object' && sent !== null && Object.keys(sent).length > 0 && { asked: sent }),
      ...(this.#before && { before: this.#before }),
    };
    const entry: NewEntry = {
      actor,
      action: operationOf(this.#request),
      subject: this.#subject,
      changes: Object.keys(changes).length > 0 ? changes : undefined,
      ip: this.#request.ip,
      requestId: this.#request.id,
    };
    if (this.#workspaceId) await writeEntry(tx, this.#workspaceId, entry);
    else await writeAccountEntry(tx, accountId, entry);
  };

  during<T>(work: () => Promise<T>): Promise<T> {
    return notingChanges(this, work);
  }
}

/** Of a request that somebody makes and that may change something, or is handed secrets. */
export function noteOf(request: FastifyRequest): AuditNote | undefined {
  const { access } = request.routeOptions.config;
  if (access?.kind !== 'workspace' && access?.kind !== 'account' && access?.kind !== 'operator')
    return undefined;
  const isLook = request.method === 'GET' || request.method === 'HEAD';
  const isSecret = access.kind === 'workspace' && access.permission === 'read_secrets';
  return isLook && !isSecret ? undefined : new AuditNote(request);
}

function pathOf(request: FastifyRequest): string[] {
  return (request.routeOptions.url ?? '').split('/').filter(Boolean);
}

function operationOf({ routeOptions }: FastifyRequest): string {
  const { operationId } = Object(routeOptions.schema);
  return typeof operationId === 'string' ? operationId : (routeOptions.url ?? 'unknown');
}

/** The last thing that the path names. */
function subjectOf(request: FastifyRequest): Subject | undefined {
  const path = pathOf(request);
  const params: Record<string, unknown> = Object(request.params);
  for (let place = path.length - 1; place > 0; place -= 1) {
    const [part = '', before = ''] = [path[place], path[place - 1]];
    const type = types[before];
    if (part.startsWith(':') && type !== undefined) return { type, id: String(params[part.slice(1)]) };
  }
  return undefined;
}

function valuesOf(value: unknown, depth: number, field = ''): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
  // Cut in the middle of a character, a text would be one that no database takes.
  if (typeof value === 'string')
    return shown.has(field) || isId(value) ? value.slice(0, most.text).toWellFormed() : hidden;
  if (typeof value !== 'object' || depth >= most.depth || Buffer.isBuffer(value)) return hidden;
  if (Array.isArray(value)) return value.slice(0, most.items).map((each) => valuesOf(each, depth + 1, field));
  const entries = Object.entries(value).slice(0, most.fields);
  return Object.fromEntries(entries.map(([name, each]) => [name, valuesOf(each, depth + 1, name)]));
}
