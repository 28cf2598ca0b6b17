/** `slipway mcp`, as an assistant starts it: the official client, over standard input and output. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { newPerson, text } from '../support/people.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { Desk } from './support.ts';

async function scene(t: TestContext) {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const body = { name: 'assistant', abilities: ['read'] };
  const made = await service.call('POST', '/api-tokens', { token, body });
  const desk = new Desk(t);
  const env = { ...desk.env, SLIPWAY_URL: service.url, SLIPWAY_TOKEN: text(made.body.token) };
  return { service, token, made, desk, env };
}

test('the official client has the tools of the service, by either revision, within the bounds of the token', async (t) => {
  const { service, token, desk, env } = await scene(t);
  const server = { name: 'one', host: '127.0.0.1', port: 9, auth: { type: 'generated' } };
  await service.call('POST', '/servers', { token, body: server });
  for (const mode of ['auto', 'legacy'] as const) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const args = [desk.entry, 'mcp'];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
    const { tools } = await client.listTools();
    assert.ok(
      tools.some(({ name }) => name === 'explain_failure'),
      mode,
    );
    const [seen, refused] = await Promise.all([
      client.callTool({ name: 'overview', arguments: {} }),
      client.callTool({
        name: 'call_operation',
        arguments: { operation: 'createEnvironment', body: { projectId: token.slice(0, 36), name: 'x' } },
      }),
    ]);
    assert.match(JSON.stringify(seen), /127\.0\.0\.1/);
    assert.equal(refused.isError, true, JSON.stringify(refused));
    await client.close();
  }
});

test('each line is answered by a line; what is wrong is an answer, too, and nothing else is printed', async (t) => {
  const { service, token, made, desk, env } = await scene(t);
  const line = (id: number, method: string, params: object = {}) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  const asked = async (input: string, more: Record<string, string> = {}) => {
    const { code, out, err } = await desk.run(['mcp'], { env: { ...env, ...more }, input });
    assert.deepEqual([code, err], [0, '']);
    return out
      .split('\n')
      .filter(Boolean)
      .map((each) => JSON.parse(each))
      .sort((one, other) => one.id - other.id);
  };
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
  const [broken, pong, unknown, ...others] = await asked(
    `{"jsonrpc"\n\n${line(1, 'ping')}${line(2, 'no/such')}${line(3, 'ping')}${JSON.stringify(cancelled)}\n`,
  );
  assert.deepEqual([broken.id, broken.error.code], [null, -32700]);
  assert.deepEqual(pong, { jsonrpc: '2.0', id: 1, result: {} });
  assert.deepEqual([unknown.id, unknown.error.code], [2, -32601]);
  assert.deepEqual(others, [], 'nobody waits for what was cancelled');

  await service.call('DELETE', `/api-tokens/${text(made.body.id)}`, { token });
  const [ended] = await asked(line(4, 'ping'));
  assert.deepEqual([ended.id, ended.error.data.code], [4, 'unauthenticated']);
  const [gone] = await asked(line(5, 'ping'), { SLIPWAY_URL: 'http://127.0.0.1:9' });
  assert.match(gone.error.message, /^http:\/\/127\.0\.0\.1:9 cannot be reached/);
});
