/** What tools are given: the operations, called as the one who asks, and the names of things turned into their ids. */
import type { FastifyRequest } from 'fastify';
import { Fault } from '../../fault.ts';
import { isId } from '../../ids.ts';
import { nearestNames } from '../../nearest-names.ts';
import type { OperationInput, Operations } from './operations.ts';

/** An answer of the service that is no success: told to the model as it is told to any client. */
export class Refused extends Error {
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(problem: Readonly<Record<string, unknown>>) {
    super(String(problem.detail ?? 'The call was refused.'));
    this.problem = problem;
  }
}

type Item = Readonly<Record<string, unknown>>;

/** Of one list: who has more names the thing by its id. */
const mostPages = 5;

export class Caller {
  readonly operations: Operations;
  readonly signal: AbortSignal;
  readonly #request: FastifyRequest;

  constructor(operations: Operations, request: FastifyRequest, signal: AbortSignal) {
    this.operations = operations;
    this.#request = request;
    this.signal = signal;
  }

  async call(operationId: string, input: OperationInput = {}): Promise<Item> {
    const operation = await this.operations.find(operationId);
    if (!operation) throw new Fault('invalid_input', `There is no operation «${operationId.slice(0, 100)}».`);
    const { status, body } = await this.operations.call(this.#request, operation, input);
    if (status >= 400) throw new Refused(Object(body));
    return Object(body ?? {});
  }

  /** All of a list, as far as anyone looks. */
  async list(operationId: string, input: OperationInput = {}): Promise<Item[]> {
    const found: Item[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < mostPages; page += 1) {
      const query = { ...input.query, limit: '100', ...(cursor !== undefined && { cursor }) };
      const { items, nextCursor } = await this.call(operationId, { ...input, query });
      found.push(...Array.from(Object(items ?? []), (each) => Object(each)));
      if (typeof nextCursor !== 'string') break;
      cursor = nextCursor;
    }
    return found;
  }

  /** An id, or `project/environment` by their names. */
  async environment(named: string): Promise<Item> {
    if (isId(named)) return this.call('getEnvironment', { path: { id: named } });
    const projects = new Map((await this.list('listProjects')).map((each) => [each.id, each]));
    const all = await this.list('listEnvironments');
    const nameOf = (each: Item) => `${String(projects.get(each.projectId)?.name)}/${String(each.name)}`;
    const wanted = named.toLowerCase();
    const isNamed = (each: Item) =>
      [
        nameOf(each),
        String(each.name),
        `${String(projects.get(each.projectId)?.slug)}/${String(each.name)}`,
      ].some((name) => name.toLowerCase() === wanted);
    const [found, other] = all.filter(isNamed);
    if (found && !other) return found;
    const names = other ? all.filter(isNamed).map(nameOf) : nearestNames(named, all.map(nameOf));
    const meant =
      names.length > 0
        ? ` There is ${names
            .slice(0, 5)
            .map((name) => `«${name}»`)
            .join(', ')}.`
        : '';
    const why = other
      ? 'Several environments have this name.'
      : `There is no environment «${named.slice(0, 100)}».`;
    throw new Fault('invalid_input', `${why}${meant}`, {
      hint: 'Name it as `project/environment`, or by its id; `overview` lists them.',
    });
  }
}

/** Whoever destroys something says its name: a model that is led astray does not know that it has to, or which one. */
export function requireConfirm(given: string | undefined, name: string, what: string): void {
  if (given === name) return;
  throw new Fault('removal_unconfirmed', `${what} Ask the person first, then call again with \`confirm\`.`, {
    errors: [{ path: 'confirm', message: 'must be the name of the thing, as it is shown when it is read' }],
  });
}
