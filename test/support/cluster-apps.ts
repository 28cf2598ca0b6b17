/** Applications that keep something: in a service beside them, or in a volume. */
import assert from 'node:assert/strict';
import { release } from './cluster-deployments.ts';

/** Counts in Redis by its own protocol; with `tick` as its argument it counts once more for the minute, and ends. */
export const counting = `import { createServer } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
const { hostname, port, password } = new URL(process.env.REDIS_URL);
async function ask(...commands) {
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const said = [['AUTH', decodeURIComponent(password)], ...commands].map((each) => each.join(' ') + '\\r\\n');
  socket.write(said.join(''));
  let heard = '';
  for await (const chunk of socket) {
    heard += chunk;
    if (heard.split('\\r\\n').length > commands.length + 1) break;
  }
  socket.destroy();
  return heard.split('\\r\\n').at(commands.length);
}
if (process.argv[2] === 'tick') {
  await ask(['INCR', 'tick:' + new Date().toISOString().slice(0, 16)]);
} else {
  const server = createServer(async (request, response) => {
    response.end(request.url === '/count' ? await ask(['INCR', 'visits']) : 'well');
  });
  server.listen(Number(process.env.PORT), '0.0.0.0');
  process.on('SIGTERM', () => server.close(() => process.exit(0)));
}
`;

const storing = `import { createServer } from 'node:http';
import { appendFileSync, readFileSync } from 'node:fs';
const server = createServer((request, response) => {
  if (request.url === '/count') appendFileSync('/data/visits', 'x');
  response.end(request.url === '/count' ? String(readFileSync('/data/visits', 'utf8').length) : 'well');
});
server.listen(Number(process.env.PORT), '0.0.0.0');
process.on('SIGTERM', () => server.close(() => process.exit(0)));
`;

const plain = release('storing', storing);
/** A new volume has the owner of the folder that it is mounted over. */
export const storingFiles = {
  ...plain,
  Dockerfile: String(plain.Dockerfile).replace('USER', 'RUN mkdir /data && chown 10001 /data\nUSER'),
};

/** Only who comes there is counted: the checks of the service and of the proxies come to the front page. */
export async function count(url: string): Promise<number> {
  const answer = await fetch(`${url}count`);
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return Number(text.replace(':', ''));
}
