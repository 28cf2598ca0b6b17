/**
 * Why an app did not become healthy: one fault, in words for someone who deploys for the first time, with what to change
 * and what was seen. Facts in, fault out. The cause that explains the others comes first: who has no memory also does
 * not listen, and who does not listen also gives no answer.
 */
import type { ContainerState } from '../adapters/docker/docker.ts';
import { Fault, type FaultCode } from '../fault.ts';
import { crashWords, valueMissing } from './crash-words.ts';
import { hasReached, type Probe } from './health-probe.ts';

export interface Listener {
  readonly address: string;
  readonly port: number;
}

export interface HealthFacts {
  /** Without a path, taking a connection is enough. */
  readonly wanted: { readonly port: number; readonly path: string | null };
  readonly probes: readonly Probe[];
  readonly containers: readonly ContainerState[];
  /** Inside the container. */
  readonly listening: readonly Listener[];
  readonly lastLines: readonly string[];
  /** Variables that its code asks for and that have no value. */
  readonly missing: readonly string[];
  /** Its limit, and the most that it could have on the server. */
  readonly memoryMb: number;
  readonly mostMemoryMb: number;
  /** How long it was given. */
  readonly startSeconds: number;
}

interface Finding {
  readonly code: FaultCode;
  readonly sentence: string;
  readonly hint: string;
}

const restartsOfLoop = 2;
const shownProbes = 5;
const shownLines = 20;
/** Docker's own name server inside every container of a network, and the debugger of Node.js. */
const notTheApp = ({ address, port }: Listener) => address === '127.0.0.11' || port === 9229;

export function diagnose(facts: HealthFacts): Fault {
  const finding = outOfMemory(facts) ?? crashed(facts) ?? unreached(facts) ?? answered(facts);
  return new Fault(finding.code, finding.sentence, { hint: finding.hint, evidence: evidenceOf(facts) });
}

function outOfMemory({ containers, memoryMb, mostMemoryMb, lastLines }: HealthFacts): Finding | undefined {
  if (!containers.some(({ isOutOfMemory }) => isOutOfMemory)) return undefined;
  const code = 'app_out_of_memory';
  const isNode = lastLines.some((line) => /\bnode\b|npm/i.test(line));
  const own = isNode
    ? ` Node.js can be kept below that with NODE_OPTIONS=--max-old-space-size=${Math.floor(memoryMb * 0.75)}.`
    : '';
  const example = Math.min(memoryMb * 2, mostMemoryMb);
  const more =
    memoryMb < mostMemoryMb
      ? `Set settings.memoryMb to more than ${memoryMb}, ${example} for example`
      : 'That is all the server has for apps: move the environment to a larger one';
  return {
    code,
    sentence: `The app was ended because it used more than its ${memoryMb} MB of memory.`,
    hint: `${more}, or let the app use less.${own}`,
  };
}

function crashed({ containers, lastLines, missing }: HealthFacts): Finding | undefined {
  const looping = containers.find(({ restarts }) => restarts >= restartsOfLoop);
  if (looping) {
    // While it runs again, Docker has forgotten how it ended.
    const { how, hint } = crashWords(hasEnded(looping) ? looping.exitCode : null, lastLines, missing);
    const sentence = `The app ends each time it is started: it was started again ${looping.restarts} times, and ended ${how}.`;
    return { code: 'app_crash_loop', sentence, hint };
  }
  const ended = containers.find((each) => hasEnded(each) || each.restarts > 0);
  if (!ended) return undefined;
  const { how, hint } = crashWords(hasEnded(ended) ? ended.exitCode : null, lastLines, missing);
  return { code: 'app_crashed', sentence: `The app ended ${how}.`, hint };
}

/** One whose command cannot be started stays `created`, with the code that a shell would give. */
function hasEnded({ status, exitCode }: ContainerState): boolean {
  return ['exited', 'dead', 'restarting'].includes(status) || (status === 'created' && exitCode !== 0);
}

/** Nothing answered at its port: what else it listens on says why. */
function unreached({
  wanted,
  probes,
  listening,
  startSeconds,
}: Pick<HealthFacts, 'wanted' | 'probes' | 'listening' | 'startSeconds'>): Finding | undefined {
  const last = probes.at(-1);
  if (last && hasReached(last)) return undefined;
  const { port } = wanted;
  const own = listening.filter((each) => !notTheApp(each));
  const open = own.filter(({ address }) => !isLoopback(address));
  const closed = own.filter(({ address }) => isLoopback(address));
  const isHere = open.some((each) => each.port === port);
  const local = closed.find((each) => each.port === port) ?? (open.length === 0 ? closed[0] : undefined);
  if (!isHere && local) return boundToLocalhost(local, port);
  if (!isHere && open.length > 0) return wrongPort([...new Set(open.map((each) => each.port))], port);
  if (isHere) return lateListener(port, startSeconds);
  return {
    code: 'app_not_listening',
    sentence: `The app runs, but after ${startSeconds} seconds it listens on no port.`,
    hint: `It has to listen on 0.0.0.0, on the port of the variable PORT (${port}). If it needs longer to start, raise settings.health.startSeconds; if it is no web app, give it no web process.`,
  };
}

/**
 * What can be said before the time is over: it listens, but where nobody reaches it. `isFinal` where waiting cannot help:
 * its own port is taken, on localhost. A port that is merely another may be the first of several.
 */
export function earlyWord(
  facts: Pick<HealthFacts, 'wanted' | 'probes' | 'listening' | 'startSeconds'>,
): { readonly sentence: string; readonly isFinal: boolean } | undefined {
  const finding = unreached(facts);
  if (!finding || !['app_bound_to_localhost', 'app_wrong_port'].includes(finding.code)) return undefined;
  const isFinal =
    finding.code === 'app_bound_to_localhost' &&
    facts.listening.some(({ address, port }) => port === facts.wanted.port && isLoopback(address));
  return { sentence: `${finding.sentence} ${finding.hint}`, isFinal };
}

function boundToLocalhost(local: Listener, port: number): Finding {
  const also = local.port === port ? '' : `, and port ${port} is expected: use the variable PORT`;
  return {
    code: 'app_bound_to_localhost',
    sentence: `The app listens on ${local.address}:${local.port} only. Inside a container, that is reachable from nowhere else.`,
    hint: `Let it listen on 0.0.0.0 instead of ${local.address} or localhost (often an option --host 0.0.0.0, or the variable HOST=0.0.0.0)${also}.`,
  };
}

function wrongPort(found: readonly number[], port: number): Finding {
  const [first = port] = found;
  const ports = found.length === 1 ? `port ${first}` : `the ports ${found.join(', ')}`;
  return {
    code: 'app_wrong_port',
    sentence: `The app listens on ${ports}, but it is expected on port ${port}.`,
    hint: `Set settings.port to ${first}, or let the app listen on the port of the variable PORT (${port}).`,
  };
}

function lateListener(port: number, startSeconds: number): Finding {
  return {
    code: 'app_not_listening',
    sentence: `The app listens on port ${port} now, but took no connection within ${startSeconds} seconds.`,
    hint: 'If it needs longer to start, raise settings.health.startSeconds. If it listens on IPv6 only (::), let it listen on 0.0.0.0.',
  };
}

function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\./i.test(address) || address === '::1' || address === 'localhost';
}

/** It took the connection: what it said decides. */
function answered({ wanted, probes, startSeconds, missing }: HealthFacts): Finding {
  const last = probes.at(-1);
  const asked = `GET ${wanted.path ?? '/'} on port ${wanted.port}`;
  switch (last?.outcome) {
    case 'redirect':
      return redirects(last, asked, wanted.path ?? '/');
    case 'status':
      return unhealthy(last, asked, missing);
    case 'not_http':
    case 'closed':
      return notHttp(last, wanted.port);
    case 'timeout':
      return {
        code: 'app_unhealthy',
        sentence: `The app takes connections, but does not answer ${asked} in time.`,
        hint: 'It may be waiting for a database or another service that does not answer: check their addresses in its variables. Let settings.healthPath name a path that answers without them.',
      };
    default:
      return {
        code: 'app_unhealthy',
        sentence: `The app did not become healthy within ${startSeconds} seconds.`,
        hint: 'If it needs longer to start, raise settings.health.startSeconds.',
      };
  }
}

function redirects({ location, status }: Probe, asked: string, path: string): Finding {
  const code = 'app_redirects';
  const to = location ?? '';
  const sentence = `The app answers ${asked} with a redirect (${status}) to ${to}.`;
  if (/^https:\/\//i.test(to)) {
    return {
      code,
      sentence: `${sentence} It demands https, but the proxy speaks plain HTTP with it, so that would go round in a circle.`,
      hint: 'Let the app trust the header X-Forwarded-Proto (Express: app.set("trust proxy", 1); Django: SECURE_PROXY_SSL_HEADER; Rails: config.assume_ssl; Laravel: TrustProxies), or turn its redirect to https off: the proxy does that. Or set settings.healthPath to a path without the redirect.',
    };
  }
  if (to === path)
    return {
      code,
      sentence: `${sentence} That is the same path again.`,
      hint: otherPath('answers with 200'),
    };
  const isLogin = /log[-_]?in|sign[-_]?in|auth/i.test(to);
  return { code, sentence, hint: otherPath(isLogin ? 'needs no login' : 'answers with 200') };
}

function otherPath(which: string): string {
  return `Set settings.healthPath to a path that ${which}, /healthz for example; or to null, then an open port is enough.`;
}

function unhealthy({ status, body }: Probe, asked: string, missing: readonly string[]): Finding {
  const said = body === '' ? '' : ` It said: «${body.slice(0, 200)}»`;
  const sentence = `The app answers ${asked} with status ${status}.${said}`;
  return { code: 'app_unhealthy', sentence, hint: statusHint(status ?? 0, body, missing) };
}

function statusHint(status: number, body: string, missing: readonly string[]): string {
  if (/DisallowedHost|ALLOWED_HOSTS|Blocked hosts?|Invalid host|host is not allowed/i.test(body))
    return 'The app refuses the host name that it was asked by. Allow any (Django: ALLOWED_HOSTS; Rails: config.hosts; Vite: server.allowedHosts): the proxy passes only its own names on.';
  if (/HTTPS? (port|server)/i.test(body) && status === 400) return plainHttp;
  if (status === 404) return otherPath('exists');
  if (status === 401 || status === 403 || status === 407) return otherPath('needs no login');
  if (status === 405) return otherPath('answers to GET');
  if (status >= 500 && missing.length > 0)
    return `The app failed while it answered: its last lines say why. It asks for ${valueMissing(missing)}`;
  if (status >= 500)
    return 'The app failed while it answered: its last lines say why. Often a variable is missing, or the database does not have its tables yet (settings.releaseCommand runs migrations).';
  return otherPath('answers with 200');
}

const plainHttp =
  'The app speaks https on this port. Let it speak plain HTTP there: the proxy in front of it does the https.';

function notHttp({ outcome, problem, body }: Probe, port: number): Finding {
  const code = 'app_not_http';
  if (problem === 'answer:TLS')
    return { code, sentence: `The app speaks https on port ${port}, not plain HTTP.`, hint: plainHttp };
  const other = `Set settings.port to the port where it speaks HTTP. If it speaks https here, let it speak plain HTTP: the proxy does the https. If it is no web app, set settings.healthPath to null.`;
  if (outcome === 'closed') {
    const sentence = `Something listens on port ${port}, but closes the connection without an answer.`;
    return { code, sentence, hint: other };
  }
  const said = body === '' ? '' : ` It said: «${body.slice(0, 200)}»`;
  return { code, sentence: `What listens on port ${port} does not speak HTTP.${said}`, hint: other };
}

function evidenceOf({ probes, containers, listening, lastLines }: HealthFacts): string {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['Health checks:', probes.slice(-shownProbes).map(probeLine)],
    ['Containers:', containers.map(containerLine)],
    [
      'Listening:',
      listening.filter((each) => !notTheApp(each)).map(({ address, port }) => `${address}:${port}`),
    ],
    ['Last lines of the app:', lastLines.slice(-shownLines)],
  ];
  return parts
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [title, ...lines].join('\n'))
    .join('\n\n');
}

function probeLine({ atMs, outcome, status, location, body, problem }: Probe): string {
  const what =
    status === null ? (problem ?? outcome) : `${status}${location === null ? '' : ` → ${location}`}`;
  return `${(atMs / 1000).toFixed(1)} s: ${what}${body === '' ? '' : ` «${body.slice(0, 200)}»`}`;
}

function containerLine({ name, status, exitCode, restarts, isOutOfMemory }: ContainerState): string {
  const memory = isOutOfMemory ? ', out of memory' : '';
  // While it runs, Docker says 0, which is how nothing has ended.
  const end = status === 'running' ? '' : `, exit code ${exitCode}`;
  return `${name}: ${status}${end}, ${restarts} restarts${memory}`;
}
