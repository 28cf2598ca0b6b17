/**
 * The interactive documentation: one page, its script and the OpenAPI document, all from our own files. The
 * reference is large, so it is loaded when someone first opens the page.
 */
import { once } from '../once.ts';
import { type Asset, assetOf, sendAsset } from './assets.ts';
import { operationsByTag, readDocument, type Tag } from './document.ts';
import type { HttpServer } from './server.ts';
import { iconPath, pageOptions } from './web-pages.ts';

export const docsPath = '/api/docs';

/**
 * The reference takes seconds to load, and this is seen at once: every operation, by its tag, in the order in which one
 * meets them. It goes when the reference is there, and is all there is for who runs no scripts.
 */
function outlineOf(tags: readonly Tag[]): string {
  return tags
    .map(({ name, description, operations }) => {
      const lines = operations.map(
        ({ call, summary }) => `<li><code>${escaped(call)}</code> ${escaped(summary)}</li>\n`,
      );
      return `<h2>${escaped(name)}</h2>\n<p>${escaped(description)}</p>\n<ul>\n${lines.join('')}</ul>\n`;
    })
    .join('');
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const pageOf = (outline: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slipway API</title>
<link rel="icon" href="${iconPath}" type="image/svg+xml">
<link rel="preload" href="${docsPath}/reference.js" as="script">
<link rel="preload" href="${docsPath}/openapi.json" as="fetch" crossorigin="anonymous">
<script src="${docsPath}/start.js" defer></script>
<style>
body { margin: 0; }
#outline { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
#outline ul { padding: 0; list-style: none; }
#outline code { display: inline-block; min-width: 30rem; }
</style>
</head>
<body>
<main id="outline">
<h1>Slipway API</h1>
<p>The machine-readable description is at <a href="${docsPath}/openapi.json">${docsPath}/openapi.json</a>.</p>
${outline}</main>
<div id="reference"></div>
</body>
</html>
`;

const options = {
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
};

/** After the first frame: running the reference keeps the browser from drawing anything. */
const start = `const begin = () => {
  const onLoaded = () => document.querySelector('#outline')?.remove();
  Scalar.createApiReference('#reference', { ...${JSON.stringify(options)}, onLoaded });
};
requestAnimationFrame(() => setTimeout(() => {
  const reference = document.createElement('script');
  reference.src = '${docsPath}/reference.js';
  reference.onload = begin;
  document.head.append(reference);
}));
`;

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
    'openapi.json': once(async () =>
      assetOf('application/json; charset=utf-8', JSON.stringify(await readDocument(app))),
    ),
    'start.js': once(() => assetOf('text/javascript; charset=utf-8', start)),
    'reference.js': once(loadReference),
  };
  const page = once(async () => {
    const outline = outlineOf(operationsByTag(await readDocument(app)));
    return assetOf('text/html; charset=utf-8', pageOf(outline));
  });
  app.get(docsPath, pageOptions, async (request, reply) =>
    sendAsset(request, reply.header('content-security-policy', policy), await page()),
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
