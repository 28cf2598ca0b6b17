/**
 * The interactive documentation: one page, its script and the OpenAPI document, all from our own files. The
 * reference is large, so it is loaded when someone first opens the page, and kept compressed.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { once } from '../once.ts';
import { openApiDocument } from './openapi.ts';
import type { HttpServer } from './server.ts';

const base = '/api/docs';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slipway API</title>
</head>
<body>
<noscript>The machine-readable description is at <a href="${base}/openapi.json">${base}/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="${base}/reference.js"></script>
<script src="${base}/start.js"></script>
</body>
</html>
`;

const start = `Scalar.createApiReference('#reference', ${JSON.stringify({
  url: `${base}/openapi.json`,
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  persistAuth: false,
  metaData: { title: 'Slipway API' },
})});\n`;

// The page may load and call only ourselves; styles are set from script by the reference.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function docsRoutes(app: HttpServer): void {
  const options = { config: { access: { kind: 'public' } }, schema: { hide: true } } as const;
  const reference = once(loadReference);
  const document = once(async () => JSON.stringify(openApiDocument(app)));

  app.get(base, options, (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(page),
  );
  app.get(`${base}/`, options, (_request, reply) => reply.redirect(base, 301));
  app.get(`${base}/openapi.json`, options, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await document()),
  );
  app.get(`${base}/start.js`, options, (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(start),
  );
  app.get(`${base}/reference.js`, options, async (request, reply) => {
    const { plain, compressed } = await reference();
    reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'public, max-age=3600')
      .header('vary', 'accept-encoding');
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(await plain());
    return reply.header('content-encoding', 'gzip').send(compressed);
  });
}

/** The bundle lies inside the vendor's plugin; we ask the plugin for it once, in an app of its own. */
async function loadReference(): Promise<{ plain: () => Promise<Buffer>; compressed: Buffer }> {
  const [{ default: Fastify }, { default: vendor }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const inner = Fastify();
  await inner.register(vendor, { routePrefix: '/reference', configuration: { url: '/' } });
  const answer = await inner.inject('/reference/js/scalar.js');
  await inner.close();
  if (answer.statusCode !== 200) throw new Error(`the API reference has no script (${answer.statusCode})`);
  const compressed = await promisify(gzip)(answer.rawPayload);
  return { compressed, plain: () => promisify(gunzip)(compressed) };
}
