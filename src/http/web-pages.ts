/** Small pages of the service's own: one style, one script, one icon, and nothing from anywhere else. */
import type { HttpServer } from './server.ts';

export const iconPath = '/favicon.svg';

/** A hull on its slipway. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5cad"/>
<path d="M6 11h20l-4 8H10z" fill="#fff"/>
<path d="M4 22l24 4" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/>
</svg>
`;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
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
