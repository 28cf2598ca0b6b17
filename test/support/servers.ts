/** Servers in tests: registered over the API, and waited for. */
import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { openStream } from './sse.ts';
import { until } from './until.ts';

export interface TestStep {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The events of a connection test, read to their end. */
export async function connectionTest(service: TestApp, token: string, body: object): Promise<TestStep[]> {
  const answer = await service.call('POST', '/servers/test-connection', { token, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.text
    .split('\n\n')
    .filter((block) => block.startsWith('id: '))
    .map((block) => {
      const [, first = '', second = ''] = block.split('\n');
      return { event: first.slice('event: '.length), data: JSON.parse(second.slice('data: '.length)) };
    })
    .filter(({ event }) => event !== 'end');
}

/** The operation that the server has under way or has had last, once it has ended. */
export async function lastOperation(
  service: TestApp,
  token: string,
  serverId: string,
  kind: string,
): Promise<Record<string, unknown>> {
  return until(async () => {
    const { body } = await service.call('GET', '/operations', { token });
    const items: Record<string, unknown>[] = Object(body).items;
    const mine = items.find((each) => each.kind === kind && Object(each.subject).id === serverId);
    return mine && mine.finishedAt !== null ? mine : undefined;
  }, `${kind} to end`);
}

/** How far an operation that has ended said it was, in its order: what its watchers saw. */
export async function progressOf(
  service: TestApp,
  token: string,
  operationId: unknown,
): Promise<{ readonly step: string; readonly fraction: number; readonly text: string }[]> {
  const reader = await openStream(`${service.url}/api/v1/operations/${operationId}/events`, { token });
  const found = [];
  for await (const { event, data } of reader.events())
    if (event === 'progress')
      found.push({ step: String(data.step), fraction: Number(data.fraction), text: String(data.text) });
  return found;
}
