/** Tools for everything else: which operations there are, and calling one. */
import Type from 'typebox';
import { Fault } from '../../fault.ts';
import { type Caller, requireConfirm } from './caller.ts';
import type { Operation, OperationInput } from './operations.ts';
import { type Tool, tool } from './tool.ts';

const closed = { additionalProperties: false } as const;
const Values = Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 2_000 }), {
  maxProperties: 20,
});

/** They end, replace or lock out something, though no DELETE. */
const destructive: ReadonlySet<string> = new Set([
  'restoreBackup',
  'stopEnvironment',
  'hardenServer',
  'undoHardening',
  'setServices',
]);

export const operationTools: readonly Tool[] = [
  tool({
    name: 'describe_operation',
    title: 'Describe an operation',
    description:
      'What an operation of the API takes and needs. Without `operation`, the operations whose name or summary has the `text`.',
    isRead: true,
    rest: 'Search with a more exact `text`.',
    input: Type.Object(
      {
        operation: Type.Optional(Type.String({ maxLength: 100 })),
        text: Type.Optional(Type.String({ maxLength: 100 })),
      },
      closed,
    ),
    run: async ({ operations }, { operation: id, text = '' }) => {
      if (id === undefined) {
        const wanted = text.toLowerCase();
        const callable = (await operations.list()).filter(({ refusal }) => refusal === null);
        return callable
          .filter(({ id: name, summary }) => `${name} ${summary}`.toLowerCase().includes(wanted))
          .map(({ id: name, summary }) => `${name}: ${summary}`);
      }
      const found = await operations.find(id);
      if (!found) throw unknown(id);
      const { method, path, summary, description, permission, parameters, body, refusal } = found;
      return {
        operation: id,
        call: `${method} ${path}`,
        summary,
        description,
        permission,
        parameters: parameters.filter((each) => each.in !== 'header'),
        body: body ?? null,
        needsConfirm: isDestructive(found),
        ...(refusal !== null && { notForTools: refusal }),
      };
    },
  }),
  tool({
    name: 'call_operation',
    title: 'Call an operation',
    description:
      'Any operation of the API that no other tool is for; see `describe_operation`. What deletes, stops or replaces something needs `confirm` with the name of the thing.',
    isRead: false,
    input: Type.Object(
      {
        operation: Type.String({ maxLength: 100 }),
        path: Type.Optional(Values),
        query: Type.Optional(Values),
        body: Type.Optional(
          Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), { maxProperties: 100 }),
        ),
        confirm: Type.Optional(Type.String({ maxLength: 300 })),
        idempotencyKey: Type.Optional(Type.String({ maxLength: 200 })),
      },
      closed,
    ),
    run: async (caller, { operation: id, confirm, ...input }) => {
      const operation = await caller.operations.find(id);
      if (!operation) throw unknown(id);
      if (operation.refusal !== null) throw new Fault('forbidden', operation.refusal);
      requireAllOf(operation, input);
      if (isDestructive(operation))
        requireConfirm(
          confirm,
          await nameOf(caller, operation, input),
          `${operation.summary}: this cannot be taken back.`,
        );
      return caller.call(id, input);
    },
  }),
];

function isDestructive({ id, method }: Operation): boolean {
  return method === 'DELETE' || destructive.has(id);
}

function requireAllOf({ parameters, id }: Operation, { path = {}, query = {} }: OperationInput): void {
  const given = { path, query, header: {} };
  const missing = parameters.filter(
    (each) => each.required && Object(given[each.in])[each.name] === undefined,
  );
  if (missing.length === 0) return;
  throw new Fault('invalid_input', `The operation «${id}» needs more.`, {
    errors: missing.map((each) => ({ path: `${each.in}.${each.name}`, message: 'is required' })),
  });
}

/** Of what the path names last: as it is read by itself, else its id. */
async function nameOf(
  caller: Caller,
  { path, parameters }: Operation,
  input: OperationInput,
): Promise<string> {
  const upTo = path.slice(0, path.lastIndexOf('}') + 1);
  const last = parameters.filter((each) => each.in === 'path').at(-1)?.name ?? '';
  const own = input.path?.[last] ?? '';
  const reader = (await caller.operations.list()).find((each) => each.method === 'GET' && each.path === upTo);
  if (!reader || reader.refusal !== null) return own;
  const is = await caller.call(reader.id, { ...(input.path && { path: input.path }) });
  const name = is.name ?? is.hostname ?? is.label ?? is.key;
  return typeof name === 'string' ? name : own;
}

function unknown(id: string): Fault {
  return new Fault('invalid_input', `There is no operation «${id.slice(0, 100)}».`, {
    hint: 'Search with `describe_operation` and a `text`.',
  });
}
