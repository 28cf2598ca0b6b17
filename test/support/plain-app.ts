/** A web application without dependencies that is built in a second, and those who visit it all the while. */
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Body } from './deployments.ts';
import type { TestServer } from './lab.ts';
import { hangMs } from './until.ts';

/** `/slow?ms=` answers that much later, `/healthz` is 503 where `SICK` is set, everything else names the version. */
const server = `const { createServer } = require('node:http');
const version = process.env.APP_VERSION ?? 'none';
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  if (pathname === '/healthz' && process.env.SICK) response.statusCode = 503;
  setTimeout(() => response.end(version), Number(searchParams.get('ms') ?? 0));
});
server.listen(process.env.PORT, '0.0.0.0', () => console.log('version', version));
process.on('SIGTERM', () => {
  if (process.env.STUBBORN) return console.log('SIGTERM: ignored');
  server.close(() => process.exit(0));
  setInterval(() => server.closeIdleConnections(), 100).unref();
});
`;

/** `steps` are further lines of its Dockerfile. */
export function plainApp(steps = ''): Record<string, string> {
  return {
    'server.js': server,
    Dockerfile: `FROM node:24-slim
WORKDIR /app
COPY server.js ./
${steps}
USER nobody
EXPOSE 8080
CMD ["node", "server.js"]
`,
  };
}

export const plainSettings = { port: 8080, healthPath: '/healthz', drainSeconds: 5, stopSeconds: 3 };

export const versionVariable = (value: string): Body => ({
  key: 'APP_VERSION',
  value,
  secret: false,
  target: 'runtime',
});

/** Visits a page without a pause, over connections that stay open; `failures` is everything but 200. */
export class Watchers {
  readonly failures: string[] = [];
  readonly seen = new Set<string>();
  count = 0;
  #goesOn = true;
  readonly #all: Promise<void>[];

  constructor(t: TestContext, url: string, watchers = 3) {
    t.after(() => this.end());
    this.#all = Array.from({ length: watchers }, () => this.#go(url));
  }

  async #go(url: string): Promise<void> {
    while (this.#goesOn) {
      try {
        const answer = await fetch(url, { signal: AbortSignal.timeout(hangMs) });
        const text = await answer.text();
        if (answer.status === 200) this.seen.add(text);
        else this.failures.push(`${answer.status} ${text.slice(0, 200)}`);
      } catch (error) {
        this.failures.push(String(error));
      }
      this.count += 1;
      await sleep(10);
    }
  }

  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#all);
  }
}

/**
 * What a server still has of a deployment, whatever it is; nothing at best. `marks` are words of its command lines.
 * A look that was under way when the deployment ended is over within a second or two, so it is asked for five.
 */
export async function tracesOf(
  server: TestServer,
  deploymentId: string,
  marks: readonly string[] = [],
): Promise<string[]> {
  const deadline = Date.now() + 5_000;
  for (;;) {
    const traces = await tracesNow(server, deploymentId, marks);
    if (traces.length === 0 || Date.now() > deadline) return traces;
    await sleep(250);
  }
}

async function tracesNow(
  server: TestServer,
  deploymentId: string,
  marks: readonly string[],
): Promise<string[]> {
  const pattern = [deploymentId, ...marks].join('|');
  const said = await server.ssh(
    `docker ps --all --format 'container {{.Names}}' | grep -e '${deploymentId}'
systemctl list-units --all --plain --no-legend | grep -e '${deploymentId}' | sed 's/^/unit /'
find /var/lib/slipway /run/slipway /etc/systemd/system /run/systemd/system -name '*${deploymentId}*' 2>/dev/null | sed 's/^/file /'
grep --recursive --files-with-matches -e '${deploymentId}' /var/lib/slipway/proxy 2>/dev/null | sed 's/^/proxy /'
for each in /proc/[0-9]*; do
  words=$(tr '\\0' ' ' 2>/dev/null <"$each/cmdline") || continue
  case $words in *bash\\ -c*|*sh\\ -c\\ docker\\ ps*) continue ;; esac
  if printf '%s' "$words" | grep -q -E -e '${pattern}'; then printf 'process %s\\n' "$words" | cut -c1-200; fi
done
true`,
  );
  return said.split('\n').filter((line) => line !== '');
}
