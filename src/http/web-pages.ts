/** Small pages of the service's own, opened from mails: one style and one script, and nothing from anywhere else. */
import type { HttpServer } from './server.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Open to everybody, and not in the document. */
export const pageOptions = { config: { access: { kind: 'public' } }, schema: { hide: true } } as const;

export interface WebPages {
  /** Their HTML, by path. */
  readonly pages: Readonly<Record<string, string>>;
  readonly style: string;
  readonly script: string;
}

/** Their style and script are `page.css` and `page.js` in the folder. */
export function webPages(app: HttpServer, folder: string, { pages, style, script }: WebPages): void {
  for (const [path, html] of Object.entries(pages))
    app.get(path, pageOptions, (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html),
    );
  app.get(`${folder}/page.css`, pageOptions, (_request, reply) =>
    reply.type('text/css; charset=utf-8').send(style),
  );
  app.get(`${folder}/page.js`, pageOptions, (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(script),
  );
}
