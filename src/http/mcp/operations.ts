/**
 * The operations of the document, as tools see them: found, described, called. A call goes through the service's own
 * routes with the caller's own token, so that access, limits, validation and audit are those of any other client.
 */
import type { FastifyRequest } from 'fastify';
import { once } from '../../once.ts';
import { type ApiDocument, readDocument } from '../document.ts';
import type { HttpServer } from '../server.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: unknown;
  readonly description: string;
}

export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly permission: string;
  readonly parameters: readonly Parameter[];
  readonly body: unknown;
  /** Why a tool cannot call it; null where it can. */
  readonly refusal: string | null;
}

export interface OperationInput {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

export interface OperationAnswer {
  readonly status: number;
  readonly body: unknown;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const permissions: ReadonlySet<string> = new Set(['read', 'deploy', 'change', 'manage']);
/** What they take or answer is a secret by itself, and must not go through the context of a model. */
const ofSecrets: ReadonlySet<string> = new Set(['createApiToken', 'saveGitToken']);

export class Operations {
  readonly #server: HttpServer;
  readonly #all: () => Promise<ReadonlyMap<string, Operation>>;

  constructor(server: HttpServer) {
    this.#server = server;
    this.#all = once(async () => readOperations(await readDocument(server)));
  }

  async find(id: string): Promise<Operation | undefined> {
    return (await this.#all()).get(id);
  }

  async list(): Promise<Operation[]> {
    return [...(await this.#all()).values()];
  }

  /** The request itself is the caller's: whoever it is, and wherever from. */
  async call(caller: FastifyRequest, operation: Operation, input: OperationInput): Promise<OperationAnswer> {
    const { path = {}, query = {}, body, idempotencyKey } = input;
    const url = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? ''),
    );
    const { authorization, 'slipway-workspace': workspace } = caller.headers;
    const answer = await this.#server.inject({
      method: operation.method,
      url,
      query,
      remoteAddress: caller.ip,
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(typeof workspace === 'string' && { 'slipway-workspace': workspace }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    const isJson = /[/+]json\b/.test(String(answer.headers['content-type'] ?? ''));
    return { status: answer.statusCode, body: isJson ? answer.json() : null };
  }
}

function readOperations({ paths, components }: ApiDocument): ReadonlyMap<string, Operation> {
  const resolved = (value: unknown): unknown => {
    const reference: unknown = Object(value).$ref;
    if (typeof reference !== 'string') return value;
    return reference
      .split('/')
      .slice(2)
      .reduce<unknown>((at, name) => Object(at)[name], components);
  };
  const found = new Map<string, Operation>();
  for (const [path, described] of Object.entries<Readonly<Record<string, unknown>>>(paths)) {
    for (const method of methods) {
      const is = Object(described[method.toLowerCase()]);
      if (typeof is.operationId !== 'string') continue;
      const content = Object(Object(is.requestBody).content);
      found.set(is.operationId, {
        id: is.operationId,
        method,
        path,
        summary: String(is.summary ?? ''),
        description: String(is.description ?? ''),
        permission: String(is['x-permission'] ?? ''),
        parameters: Array.from(Object(is.parameters ?? []), (each) => parameterOf(Object(resolved(each)))),
        body: withoutReferences(Object(content['application/json']).schema, resolved, 0),
        refusal: refusalOf(is, content),
      });
    }
  }
  return found;
}

function parameterOf(is: Record<string, unknown>): Parameter {
  const place = is.in === 'path' || is.in === 'query' ? is.in : 'header';
  const { name, schema } = is;
  return {
    name: String(name),
    in: place,
    required: is.required === true,
    schema,
    description: String(is.description ?? Object(schema).description ?? ''),
  };
}

function refusalOf(is: Record<string, unknown>, content: object): string | null {
  if (!permissions.has(String(is['x-permission'])))
    return 'It is not for tools: it is about a person, or hands out secrets.';
  if (ofSecrets.has(String(is.operationId))) return 'It takes or answers a secret, which tools never see.';
  const kinds = Object.values<{ content?: object }>(Object(is.responses)).flatMap((each) =>
    Object.keys(each.content ?? {}),
  );
  if (kinds.includes('text/event-stream')) return 'It is a stream: use the tools `follow` and `logs`.';
  if (Object.keys(content).some((kind) => kind !== 'application/json')) return 'It takes a file.';
  if (kinds.some((kind) => !/[/+]json$/.test(kind))) return 'It answers with a file.';
  return null;
}

const deepest = 6;

/** A schema that can be read by itself. */
function withoutReferences(value: unknown, resolved: (value: unknown) => unknown, depth: number): unknown {
  if (depth > deepest) return {};
  const is = resolved(value);
  if (Array.isArray(is)) return is.map((each) => withoutReferences(each, resolved, depth + 1));
  if (typeof is !== 'object' || is === null) return is;
  return Object.fromEntries(
    Object.entries(is)
      .filter(([key]) => key !== 'examples' && key !== 'title')
      .map(([key, each]) => [key, withoutReferences(each, resolved, depth + (key === 'properties' ? 0 : 1))]),
  );
}
