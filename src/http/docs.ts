/**
 * The interactive documentation: one page, its script and the OpenAPI document, all from our own files. The
 * reference is large, so it is loaded when someone first opens the page.
 */
import { once } from '../once.ts';
import { type Asset, assetOf, sendAsset } from './assets.ts';
import { openApiDocument } from './document.ts';
import type { HttpServer } from './server.ts';
import { iconPath, pageOptions } from './web-pages.ts';

export const docsPath = '/api/docs';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slipway API</title>
<link rel="icon" href="${iconPath}" type="image/svg+xml">
<link rel="preload" href="${docsPath}/reference.js" as="script">
<link rel="preload" href="${docsPath}/openapi.json" as="fetch" crossorigin="anonymous">
</head>
<body>
<noscript>The machine-readable description is at <a href="${docsPath}/openapi.json">${docsPath}/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="${docsPath}/reference.js"></script>
<script src="${docsPath}/start.js"></script>
</body>
</html>
`;

const start = `Scalar.createApiReference('#reference', ${JSON.stringify({
  url: `${docsPath}/openapi.json`,
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  persistAuth: false,
  favicon: iconPath,
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
  const assets = {
    'openapi.json': once(() =>
      assetOf('application/json; charset=utf-8', JSON.stringify(openApiDocument(app))),
    ),
    'start.js': once(() => assetOf('text/javascript; charset=utf-8', start)),
    'reference.js': once(loadReference),
  };
  app.get(docsPath, pageOptions, (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(page),
  );
  app.get(`${docsPath}/`, pageOptions, (_request, reply) => reply.redirect(docsPath, 301));
  for (const [name, asset] of Object.entries(assets))
    app.get(`${docsPath}/${name}`, pageOptions, async (request, reply) =>
      sendAsset(request, reply, await asset()),
    );
}

/** The bundle lies inside the vendor's plugin; we ask the plugin for it once, in an app of its own. */
async function loadReference(): Promise<Asset> {
  const [{ default: Fastify }, { default: vendor }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const inner = Fastify();
  await inner.register(vendor, { routePrefix: '/reference', configuration: { url: '/' } });
  const answer = await inner.inject('/reference/js/scalar.js');
  await inner.close();
  if (answer.statusCode !== 200) throw new Error(`the API reference has no script (${answer.statusCode})`);
  return assetOf('text/javascript; charset=utf-8', answer.rawPayload);
}
