/**
 * The application that is deployed over and over: one file without dependencies. It says which version answers, sends
 * back what it is sent, answers late where it is asked to, and echoes over a WebSocket.
 */

const server = `const { createHash } = require('node:crypto');
const version = require('./version.json');
if (version.crashes) { console.error('no way to start'); process.exit(1); }
const server = require('node:http').createServer((request, response) => {
  const url = new URL(request.url, 'http://here');
  const chunks = [];
  request.on('data', (bytes) => chunks.push(bytes));
  request.on('end', () => {
    response.setHeader('x-version', version.name);
    const answer = () => response.end(request.method === 'POST' ? Buffer.concat(chunks) : version.name);
    const ms = Number(url.searchParams.get('ms') ?? 0);
    if (ms > 0) setTimeout(answer, ms); else answer();
  });
});
server.on('upgrade', (request, socket) => {
  socket.on('error', () => {});
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = createHash('sha1').update(key).digest('base64');
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write([...head, 'Sec-WebSocket-Accept: ' + accept, '', ''].join('\\r\\n'));
  let rest = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 6 && rest.length >= 6 + (rest[1] & 127)) {
      const size = rest[1] & 127;
      const text = rest.subarray(6, 6 + size).map((byte, index) => byte ^ rest[2 + (index % 4)]);
      if ((rest[0] & 15) === 8) return socket.end();
      socket.write(Buffer.concat([Buffer.from([129, size]), text]));
      rest = rest.subarray(6 + size);
    }
  });
});
server.listen(Number(process.env.PORT ?? 3000));
process.on('SIGTERM', () => {
  server.close();
  setInterval(() => server.closeIdleConnections(), 50).unref();
});
`;

/** Its steps of the build are in a file of their own: what a version's build does is up to the version. */
const dockerfile = `FROM node:24-slim
WORKDIR /app
COPY . .
RUN sh build.sh
EXPOSE 3000
CMD ["node", "server.js"]
`;

export interface Version {
  readonly name: string;
  /** A program for the shell, run inside the build. */
  readonly build?: string;
  readonly crashes?: boolean;
  /** So many bytes more in the context. */
  readonly ballast?: number;
}

export function filesOf({
  name,
  build = 'true',
  crashes = false,
  ballast = 0,
}: Version): Record<string, string> {
  return {
    'server.js': server,
    Dockerfile: dockerfile,
    'build.sh': `${build}\n`,
    'version.json': JSON.stringify({ name, crashes }),
    'ballast.txt': 'x'.repeat(ballast),
    'package.json': JSON.stringify({ name: 'sample', private: true, scripts: { start: 'node server.js' } }),
  };
}

/** Asked at a path that every version answers at once. */
export const sampleSettings = {
  port: 3000,
  health: { path: '/healthz', startSeconds: 20 },
  drainSeconds: 10,
  stopSeconds: 3,
  // Enough for every build of the sample but those that are meant to be killed.
  buildMemoryMb: 256,
} as const;
