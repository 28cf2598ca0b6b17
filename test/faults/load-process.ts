/**
 * Visitors of an environment, in a process of their own that its parent has put into the server's network: a cut of the
 * lab's network does not come between them and the proxy. Every request that is not answered as it should is told.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , url = '', socketUrl = ''] = process.argv;
const body = Buffer.alloc(20_000, 'a body that must come back whole ');
/** Longer than the proxy may hold a request. */
const patienceMs = 45_000;
let [isOver, answered, echoes] = [false, 0, 0];
let lastVersion = '';

function fail(what: string, error: unknown, begunAt: number): void {
  const said = error instanceof Error ? error.message : String(error);
  process.send?.({ failure: { what, said, begunAt, at: Date.now() } });
}

function ask(
  agent: Agent,
  path: string,
  sent?: Buffer,
): Promise<{ status: number; version: string; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { agent, method: sent ? 'POST' : 'GET', timeout: patienceMs });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', reject);
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (bytes: Buffer) => chunks.push(bytes));
      response.on('error', reject);
      response.on('end', () => {
        const version = String(response.headers['x-version'] ?? '');
        resolve({ status: response.statusCode ?? 0, version, bytes: Buffer.concat(chunks) });
      });
    });
    asked.end(sent);
  });
}

/** One connection that is kept, one request after the other. */
async function visit(what: string, path: string, pauseMs: number, sent?: Buffer): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!isOver) {
    const begunAt = Date.now();
    try {
      const { status, version, bytes } = await ask(agent, path, sent);
      const isWhole = sent ? bytes.equals(sent) : bytes.toString() === version && version !== '';
      if (status !== 200 || !isWhole) fail(what, `${status} ${bytes.toString().slice(0, 100)}`, begunAt);
      else {
        answered += 1;
        lastVersion = version;
      }
    } catch (error) {
      fail(what, error, begunAt);
      // A server that is away answers at once with nothing: the trouble is told, not multiplied.
      await sleep(200);
    }
    await sleep(pauseMs);
  }
  agent.destroy();
}

/** Of another environment: nothing that is done to this one may reach it. */
async function listen(): Promise<void> {
  while (!isOver) {
    const begunAt = Date.now();
    try {
      await oneSocket();
    } catch (error) {
      if (!isOver) fail('WebSocket', error, begunAt);
      await sleep(500);
    }
  }
}

async function oneSocket(): Promise<void> {
  const socket = new WebSocket(socketUrl);
  const broken = new Promise<never>((_, reject) => {
    socket.addEventListener('close', ({ code }) => reject(new Error(`closed with ${code}`)));
    socket.addEventListener('error', () => reject(new Error('broken')));
  });
  broken.catch(() => undefined);
  await Promise.race([new Promise((resolve) => socket.addEventListener('open', resolve)), broken]);
  for (let count = 0; !isOver; count += 1) {
    const heard = new Promise<void>((resolve, reject) => {
      const take = ({ data }: MessageEvent) =>
        data === `${count}` ? resolve() : reject(new Error(`${count} came back as ${data}`));
      socket.addEventListener('message', take, { once: true });
    });
    socket.send(`${count}`);
    const late = sleep(15_000, undefined, { ref: false }).then(() =>
      Promise.reject(new Error('no echo in 15 s')),
    );
    await Promise.race([heard, broken, late]);
    echoes += 1;
    await sleep(100);
  }
  socket.close();
}

const visitors = [
  visit('GET', '/', 20),
  visit('GET', '/', 60),
  visit('slow GET', '/slow?ms=400', 5),
  visit('POST', '/echo', 40, body),
  visit('slow POST', '/echo?ms=150', 40, body),
  ...(socketUrl === '' ? [] : [listen()]),
];
process.on('message', (word) => {
  if (word === 'end') isOver = true;
  else process.send?.({ seen: { answered, echoes, lastVersion } });
});
process.on('disconnect', () => process.exit(1));
await Promise.all(visitors);
process.send?.({ ended: { answered, echoes, lastVersion } }, () => process.exit(0));
