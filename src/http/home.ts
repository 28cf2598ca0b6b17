/** What is found at the address itself: where to go from there, for people as a page and for programs as JSON. */
import { docsPath } from './docs.ts';
import { apiPrefix, type HttpServer } from './server.ts';
import { icon, iconPath, pageOptions, wantsPage, webPage } from './web-pages.ts';

const style = `:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 34rem; margin: 15vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.6rem; }
`;

export function homeRoutes(app: HttpServer, { docs }: { readonly docs: boolean }): void {
  const places = {
    name: 'Slipway',
    api: apiPrefix,
    docs: docs ? docsPath : null,
    openapi: docs ? `${docsPath}/openapi.json` : null,
    health: '/healthz',
  };
  const reading = docs
    ? `<p>Its <a href="${docsPath}">API reference</a> shows every call and lets you try it; programs read the <a href="${docsPath}/openapi.json">OpenAPI document</a>.</p>`
    : '<p>The API reference is switched off here (<code>SLIPWAY_DOCS</code>).</p>';
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Slipway</title>
<link rel="icon" href="${iconPath}" type="image/svg+xml">
<link rel="stylesheet" href="/home.css">
</head>
<body>
<main>
<h1>Slipway</h1>
<p>Deploys Git repositories to your own servers. The service is up; its API is at <code>${apiPrefix}</code>.</p>
${reading}
</main>
</body>
</html>
`;
  app.get('/', pageOptions, (request, reply) => {
    reply.header('vary', 'accept');
    return wantsPage(request) ? webPage(reply, page) : reply.send(places);
  });
  app.get('/home.css', pageOptions, (_request, reply) => reply.type('text/css; charset=utf-8').send(style));
  // Browsers ask for the second by themselves, wherever a page names none.
  for (const path of [iconPath, '/favicon.ico'])
    app.get(path, pageOptions, (_request, reply) =>
      reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon),
    );
}
