/** A function for each operation of the document, named after it. They are made from a table, so that all are small. */
import type { CallOptions, Input, Operation } from './call.ts';
import { Follower } from './events.ts';
import { type Operations, table } from './generated/operations.ts';
import { jsonOf } from './problem.ts';
import { type ClientOptions, Transport } from './transport.ts';

export function createClient(options: ClientOptions = {}): Operations {
  const transport = new Transport(options);
  return Object(
    Object.fromEntries(
      operations().map((operation) => [
        operation.name,
        (input: Input = {}, callOptions: CallOptions = {}) => {
          if (/[el]/.test(operation.marks)) return new Follower(transport, operation, input, callOptions);
          return call(transport, operation, input, callOptions);
        },
      ]),
    ),
  );
}

export function operations(): Operation[] {
  return table.split('\n').map((row) => {
    const [name = '', method = '', path = '', marks = '', bytesType] = row.split(' ');
    return { name, method, path, marks, bytesType };
  });
}

async function call(
  transport: Transport,
  operation: Operation,
  input: Input,
  options: CallOptions,
): Promise<unknown> {
  const answer = await transport.send(operation, input, options);
  return operation.marks.includes('b') ? answer : await jsonOf(answer);
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Everything of a list, page after page: `all(client.listServers)`, or `all((page) => client.listBackups({ id, ...page }))`. */
export async function* all<Item>(
  list: (page: { readonly cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let cursor: string | null = '';
  do {
    const page: Page<Item> = await list(cursor === '' ? {} : { cursor });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
