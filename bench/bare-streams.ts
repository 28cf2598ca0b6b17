/** The yardstick: node:http keeping responses open and writing the same bytes to each when told to. */
import { createServer, type ServerResponse } from 'node:http';

const open = new Set<ServerResponse>();
const server = createServer((request, response) => {
  if (request.url === '/fire') {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const bytes = Buffer.from(body);
      for (const each of open) each.write(bytes);
      response.end();
    });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('retry: 1000\n\n');
  open.add(response);
  response.once('close', () => open.delete(response));
});
server.listen(Number(process.argv[2]), '127.0.0.1');
