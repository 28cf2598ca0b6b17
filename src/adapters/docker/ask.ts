/**
 * Asks Docker's API through its socket, all calls in one round trip. The paths carry no version, so that each Docker
 * answers in its own; HTTP/1.0, so that an answer comes in one piece and the connection ends with it.
 */
import { Fault } from '../../fault.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import type { Exchange, RelayReply } from '../../remote/remote.ts';
import type { Ask, Call, Reply, SendOptions } from './docker.ts';

const socket = '/var/run/docker.sock';
/** Lists and logs are long; what else is said is not. */
const maxBytes = { GET: 8 * 1024 * 1024, POST: 1024 * 1024, DELETE: 1024 * 1024 } as const;
const defaultTimeoutMs = 60_000;

export const ask: Ask = async (remote, calls, options = {}) => {
  if (calls.length === 0 && !options.first) return [];
  const answers = await remote.relay(calls.map(exchangeOf), options);
  const replies = calls.flatMap((call, index) => {
    const answer = answers[index];
    return answer ? [replyOf(call, answer, options)] : [];
  });
  if (replies.length < calls.length) throw new Fault('remote_failed', 'The server skipped a call to Docker.');
  return replies;
};

export function exchangeOf({ method, path, body, ok, timeoutMs = defaultTimeoutMs }: Call): Exchange {
  if (!/^\/[\x21-\x7e]*$/.test(path))
    throw new Fault('invalid_input', 'A path of the Docker API has a sign that does not belong there.', {
      evidence: path,
    });
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
  const head = [
    `${method} ${path} HTTP/1.0`,
    'Host: docker',
    ...(body === undefined ? [] : ['Content-Type: application/json']),
    ...(method === 'POST' ? [`Content-Length: ${content.length}`] : []),
  ];
  return {
    to: { path: socket },
    send: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), content]),
    expect: `^HTTP/1\\.[01] (?:${ok.join('|')})[ \\r]`,
    timeoutMs,
    maxBytes: maxBytes[method],
  };
}

export function replyOf(call: Call, { last }: RelayReply, options: SendOptions): Reply {
  if (last.problem !== null) throw noAnswer(call, last.problem);
  if (last.bytes.length === 0) throw noAnswer(call, 'it hung up without a word');
  const reply = parse(last.bytes);
  if (!reply) throw failed(call, 'It did not answer in HTTP.', last.bytes.toString('latin1'), options);
  if (call.ok.includes(reply.status)) return reply;
  throw failed(call, `It answered with ${reply.status}.`, messageOf(reply), options);
}

function parse(answer: Buffer): Reply | undefined {
  const end = answer.indexOf('\r\n\r\n');
  const head = answer.subarray(0, end === -1 ? 0 : end).toString('latin1');
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (!status) return undefined;
  const bytes = answer.subarray(end + 4);
  const isJson = /\r\ncontent-type: *application\/json/i.test(head);
  return { status: Number(status), body: isJson ? parsed(bytes) : bytes, bytes };
}

/** Some answers are several objects one after the other, and one that is too long is cut off; those stay bytes. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return bytes;
    throw error;
  }
}

function messageOf({ body, bytes }: Reply): string {
  const isTold = typeof body === 'object' && body !== null && 'message' in body;
  return isTold && typeof body.message === 'string' ? body.message : bytes.toString('utf8');
}

function noAnswer({ method, path }: Call, problem: string): Fault {
  const evidence = `${method} ${path}: ${problem}`;
  if (problem.startsWith('connect:'))
    return new Fault('docker_missing', 'Docker does not answer on the server.', {
      hint: 'See whether it is installed and runs: systemctl status docker.',
      evidence,
    });
  if (problem.endsWith('timed out'))
    return new Fault('remote_timeout', 'Docker took longer to answer than it may.', { evidence });
  // It ended while it was asked, as in a restart: who asks again finds it there, or not.
  return new Fault('docker_missing', 'Docker broke off on the server.', { evidence });
}

function failed({ method, path }: Call, how: string, said: string, { secrets }: SendOptions): Fault {
  const message = redactWhole(Buffer.from(said), secrets).toString('utf8').trim().slice(0, 4_000);
  const evidence = `${method} ${path}: ${message}`;
  if (isDiskFull(message))
    return new Fault('disk_full', 'The disk of the server is full; Docker could not go on.', {
      hint: 'Free some space on the server, then try again.',
      evidence,
    });
  if (/would result in a loss of quorum/.test(message))
    return new Fault('cluster_no_quorum', 'Without this server the managers would have no majority.', {
      hint: 'Another manager is away; GET /clusters/:id says which. Try again when it is back.',
      evidence,
    });
  if (/Timeout was reached before node joined/.test(message))
    return new Fault('remote_timeout', 'The server did not come into the swarm in time.', {
      hint: 'A manager of the cluster has to answer it on port 2377. Try again when all of its members are up.',
      evidence,
    });
  if (isWithoutLeader(message))
    return new Fault('cluster_no_quorum', 'The managers of the cluster have no leader.', {
      hint: 'They choose one within seconds where a majority of them is up; GET /clusters/:id says which are away.',
      evidence,
    });
  if (isLostOverlay(message))
    return new Fault('work_lost', 'The network of the cluster was taken off the server at that moment.', {
      evidence,
    });
  return new Fault('docker_failed', `Docker could not do what it was asked. ${how}`, { evidence });
}

/** What a manager says while another leader is chosen, where it does not reach the one it knows, or while it stops or starts itself. */
function isWithoutLeader(said: string): boolean {
  const says =
    /swarm does not have a leader|no elected (?:primary|cluster leader)|node is not a swarm manager|raft: failed to process the request|rpc error: code = (?:DeadlineExceeded|Unavailable|Canceled)/;
  return says.test(said);
}

/**
 * Swarm takes an overlay off a server with the last container on it, also while the next is being attached; asked again, it brings
 * it back. It is named by an id of Swarm's: a network of the server's own that is not there stays away.
 */
function isLostOverlay(said: string): boolean {
  return /network [0-9a-z]{25} not found/.test(said);
}

export function isDiskFull(said: string): boolean {
  return /no space left on device|ENOSPC|disk quota exceeded/i.test(said);
}
