/**
 * Static files behind nginx as a user without rights. The configuration is written by a step of the Dockerfile, so
 * that the file stands alone; not by a here-document, which Docker 20.10 does not know. It therefore has no single
 * quote, and no line that begins with `#`.
 */

import { posix } from 'node:path';
import type { StaticOutput } from '../../result.ts';
import type { Document } from '../document.ts';
import type { Request } from '../request.ts';
import { portNumber, wrong } from '../text/grammar.ts';
import { webServer } from './base-images.ts';

const staticPort = 8080;
const root = '/usr/share/nginx/html';

export interface StaticFiles {
  /** A stage, or `null` for the repository itself. */
  readonly from: string | null;
  readonly path: string;
  readonly isSinglePage: boolean;
}

/** What a build stage has made, from the app's folder in it. */
export function addStaticOutput(
  document: Document,
  request: Request,
  output: StaticOutput,
  home: string,
): number {
  // A tool of a workspace may put it beside the app: `../../dist/apps/web`.
  const path = posix.join(home, output.directory, '/');
  if (!path.startsWith('/app/'))
    throw wrong('staticOutput', 'The folder of the pages is not inside the repository.');
  return addWebServer(document, request, { from: 'build', path, isSinglePage: output.isSinglePage });
}

export function addWebServer(document: Document, request: Request, files: StaticFiles): number {
  const port = request.port ?? staticPort;
  const stage = document.runtime(
    webServer,
    'The result is only files: a small web server sends them, nothing else is in the image',
  );
  stage.add(
    `RUN rm -rf ${root}/* && printf '%s\\n' \\\n${quotedLines(configuration(port, files.isSinglePage))} > /etc/nginx/nginx.conf`,
    files.isSinglePage
      ? 'Compression, long caching of files with a hash in their name, none of pages; a path that is no file gets index.html, as the app routes in the browser'
      : 'Compression, long caching of files with a hash in their name, none of pages; 404.html where a path is not there',
  );
  stage.copy([files.path], `${root}/`, undefined, files.from === null ? [] : [`--from=${files.from}`]);
  stage.env({ PORT: port });
  stage.add(
    'USER 101:101',
    'The user "nginx" of the image, by number, so that anyone can see it is not root',
  );
  stage.add(`EXPOSE ${port}`);
  stage.healthCheck('bash');
  stage.add('ENTRYPOINT []', 'The scripts of the image would rewrite a configuration that is not theirs');
  stage.command(
    ['nginx', '-g', 'daemon off;'],
    'nginx itself is the first process and gets the signal to stop',
  );
  return port;
}

function quotedLines(text: string): string {
  return text
    .split('\n')
    .map((line) => `    '${line}' \\`)
    .join('\n')
    .concat('\n   ');
}

// A hash differs from a word by what words do not have: hexadecimal digits of both kinds, or in the folder of bundlers
// a capital or digit inside; so `site-branding.png` and `report-20260101.pdf` are asked for again each time. `no-cache` lets browsers keep a file, but ask whether it is still the same.
function configuration(port: number, isSinglePage: boolean): string {
  const fallback = isSinglePage
    ? `    location ~* "\\.(?:js|mjs|css|map|json|wasm|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|mp4|webm|pdf|txt|xml)$" {
      try_files $uri =404;
    }
    location / {
      try_files $uri $uri/ /index.html;
    }`
    : `    error_page 404 /404.html;
    location / {
      try_files $uri $uri.html $uri/ =404;
    }`;
  return `worker_processes auto;
pid /tmp/nginx.pid;
error_log /dev/stderr warn;
events {
  worker_connections 1024;
}
http {
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log /dev/stdout;
  client_body_temp_path /tmp/client-body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  server_tokens off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 75s;
  gzip on;
  gzip_vary on;
  gzip_proxied any;
  gzip_comp_level 5;
  gzip_min_length 1024;
  gzip_types text/plain text/css text/xml text/javascript application/javascript application/json application/manifest+json application/xml application/rss+xml application/wasm image/svg+xml font/ttf;
  map $uri $cache_control {
    default "no-cache";
    "~^/(?:_next/static|_nuxt|_astro|_app/immutable)/" "public, max-age=31536000, immutable";
    "~[.-](?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\\.[a-z0-9.]+$" "public, max-age=31536000, immutable";
    "~^/assets/.*[.-](?=[^.]*[A-Za-z])(?=[^.]+[0-9A-Z_])[A-Za-z0-9_-]{8}\\.[a-z0-9.]+$" "public, max-age=31536000, immutable";
    "~-(?=[0-9]*[A-Z])[0-9A-Z]{8}\\.(?:js|mjs|css)$" "public, max-age=31536000, immutable";
  }
  server {
    listen ${portNumber(port)};
    listen [::]:${portNumber(port)};
    root ${root};
    index index.html;
    absolute_redirect off;
    add_header Cache-Control $cache_control;
    add_header X-Content-Type-Options nosniff always;
    location ~ "/\\.(?!well-known/)" {
      return 404;
    }
${fallback}
  }
}`;
}
