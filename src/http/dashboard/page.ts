/** The one page of the dashboard, and what it may do: load and call ourselves, and nothing else. */
import { iconPath } from '../web-pages.ts';

export const dashboardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export interface LoadedFirst {
  readonly style: string;
  readonly script: string;
  readonly imports: readonly string[];
}

/** With something to see from its style on, before any script: where the name stands is where it stays. */
export function pageOf({ style, script, imports }: LoadedFirst, folder: string): string {
  const preloads = imports.map((name) => `<link rel="modulepreload" href="${folder}${name}">\n`).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Slipway</title>
<link rel="icon" href="${iconPath}" type="image/svg+xml">
<link rel="stylesheet" href="${folder}${style}">
${preloads}<script type="module" src="${folder}${script}"></script>
</head>
<body>
<noscript>The dashboard needs JavaScript. Everything it does can also be done through the API below /api/v1.</noscript>
<div id="app"><div class="starting" role="status" aria-label="Loading"><span class="brand"><img src="${iconPath}" alt="" width="22" height="22">Slipway</span></div></div>
</body>
</html>
`;
}
