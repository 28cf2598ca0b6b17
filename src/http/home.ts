/** What is found at the address itself: the dashboard for people, and for programs where to go from there. */
import { sendDashboard } from './dashboard/dashboard.ts';
import { docsPath } from './docs.ts';
import { apiPrefix, type HttpServer } from './server.ts';
import { icon, iconPath, pageOptions, wantsPage } from './web-pages.ts';

export function homeRoutes(app: HttpServer, { docs }: { readonly docs: boolean }): void {
  const places = {
    name: 'Slipway',
    api: apiPrefix,
    docs: docs ? docsPath : null,
    openapi: docs ? `${docsPath}/openapi.json` : null,
    health: '/healthz',
  };
  app.get('/', pageOptions, (request, reply) =>
    wantsPage(request) ? sendDashboard(request, reply) : reply.header('vary', 'accept').send(places),
  );
  // Browsers ask for the second by themselves, wherever a page names none.
  for (const path of [iconPath, '/favicon.ico'])
    app.get(path, pageOptions, (_request, reply) =>
      reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(icon),
    );
}
