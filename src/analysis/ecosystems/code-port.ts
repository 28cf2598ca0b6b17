/** Which port source text names. The same few forms are written in every language. */

import { conventional, type Evidenced, evidenced, evidencedBy, guessed } from '../evidence.ts';
import type { Hit, Repository } from '../repository.ts';

/** Ports of databases, mail and the like: an app speaks to them, it does not listen there. */
const others = new Set([
  25, 465, 587, 1433, 1521, 2525, 3306, 4222, 5432, 5433, 5672, 6379, 6380, 9042, 9092, 9200, 11211, 11434,
  27017, 4317, 4318, 2181, 8125,
]);

const forms: readonly RegExp[] = [
  // A default beside the variable: getenv("PORT", 8000), ENV['PORT'] || 4567, "PORT").unwrap_or("8080"), {PORT:-80}
  /["'`]PORT["'`\])][^0-9#]{0,60}?\b(\d{2,5})\b/,
  /\$\{(?:SERVER_)?PORT:-?(\d{2,5})\}/,
  // An address to listen on: ":8080", "0.0.0.0:3000", "http://*:5000"
  /["'`](?:https?:\/\/|tcp:\/\/)?(?:0\.0\.0\.0|127\.0\.0\.1|\[::1?\]|\*|\+)?:(\d{2,5})["'`/]/,
  /(?:listen|bind|serve|addr|urls?)\w{0,40}\b.{0,40}["'`](?:https?:\/\/)?localhost:(\d{2,5})["'`/]/i,
  // An address and a port apart: ("0.0.0.0", 8080), ([0, 0, 0, 0], 3000)
  /\(\s*(?:["'][\w.:]*["']|\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\])\s*,\s*(\d{2,5})\s*\)/,
  /(?:^|[^a-z_])(?:http_?|server_?|listen_?|app_?|web_?|default_?)?port\b["']?(?:\s*:\s*\w+)?\s*(?:=>|:=|[:=(,])\s*["':]*(\d{2,5})\b/i,
  /\b(?:inet)?(?:listen|bind|serve|http\.server|listenandserve|listenon|tcpserver|httpserver|socketaddress|serversocket|webserver)\w*[(\s]\s*["':]*(\d{2,5})\b/i,
  // #define PORT 8080, scotty 3000, run 8080 app
  /#define\s+\w{0,20}PORT\w{0,20}\s+(\d{2,5})\b/,
  /\b(?:scotty|warp|run|runEnv)\s+(\d{4,5})\b/,
  /\.(?:start|run)\(\s*(\d{4,5})\b/,
];

export function portInCode(repository: Repository, files: readonly string[]): Evidenced<number> | undefined {
  for (const form of forms) {
    for (const hit of repository.findAll(files, form, 20)) {
      const port = portOf(hit);
      if (port !== undefined) return evidencedBy(hit, port);
    }
  }
  return undefined;
}

/** Where nothing says a port: that of the framework, `otherwise` where there is none. */
export function usualPort(
  framework: { readonly name: string; readonly port?: number | null } | undefined,
  file: string,
  otherwise: number | null = null,
): Evidenced<number | null> {
  return framework
    ? evidenced(framework.port ?? otherwise, conventional, file, framework.name)
    : evidenced(otherwise, guessed, file, 'no port in the code');
}

function portOf({ text, match }: Hit): number | undefined {
  if (/^\s*(?:#(?!define)|\/\/|\*|--|;)/.test(text)) return undefined;
  const port = Number(match[1]);
  return port >= 80 && port <= 65_535 && !others.has(port) && !(port < 1024 && port !== 80)
    ? port
    : undefined;
}
