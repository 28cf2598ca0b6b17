/** What every control route of the lab's services shares: how input is held against a schema, and how it is refused. */
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';

/** Something a caller asked for and cannot have; the sentence says why, and what would be right. */
export class InputError extends Error {
  readonly statusCode: number;

  constructor(sentence: string, statusCode = 400) {
    super(sentence);
    this.name = 'InputError';
    this.statusCode = statusCode;
  }
}

/** The example is part of the sentence: whoever got it wrong sees at once what is right. */
export function parse<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  example: object | string,
): Static<Schema> {
  if (Check(schema, value)) return value;
  const shown = typeof example === 'string' ? example : JSON.stringify(example);
  throw new InputError(`${wrongWith(schema, value)}. Right is, for example: ${shown}`);
}

function wrongWith(schema: TSchema, value: unknown): string {
  const [first] = Errors(schema, value).filter(({ keyword }) => keyword !== 'boolean');
  if (first === undefined) return 'The input is not of the right form';
  const field = first.instancePath.split('/').slice(1).join('.');
  const extra = first.keyword === 'additionalProperties' ? ` (${first.params.additionalProperties})` : '';
  return `${field === '' ? 'The input' : `"${field}"`} ${first.message}${extra}`;
}

/**
 * Adds routes whose refusals are `{ error: sentence }`, and leaves the rest of the server as it is. What has no
 * status of its own is a bug, and goes on to the server's own handler.
 */
export function addRoutes(app: FastifyInstance, add: (scope: FastifyInstance) => void): void {
  app.register(async (scope) => {
    scope.setErrorHandler((error, _request, reply) => {
      const status = statusOf(error);
      if (!(error instanceof Error) || status === undefined) throw error;
      return reply.code(status).send({ error: error.message });
    });
    add(scope);
  });
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined;
  return typeof error.statusCode === 'number' ? error.statusCode : undefined;
}
