/**
 * Git over HTTP: clone, fetch and push. Owns who may do which of them; refuses the old protocol without a
 * service, and leaves everything inside the protocol to git itself.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Caller, callerOf, mayPush, maySee } from '../access.ts';
import type { Registry } from '../registry.ts';
import type { Git } from '../repository/git.ts';
import type { Repositories } from '../repository/repositories.ts';
import type { Repository } from '../state.ts';
import type { Pushes } from '../webhooks/pushes.ts';
import { runBackend } from './backend.ts';

export interface GitRequest {
  readonly owner: string;
  readonly name: string;
  readonly operation: 'info/refs' | 'git-upload-pack' | 'git-receive-pack';
  readonly service: string | null;
  readonly query: string;
}

/** The address works with `.git` and without, as GitHub's does. */
export function gitRequestOf(url: URL): GitRequest | undefined {
  const path = /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;
  const [, owner, name, operation] = path.exec(url.pathname) ?? [];
  if (!owner || !name) return undefined;
  const query = url.search.slice(1);
  if (operation === 'info/refs')
    return { owner, name, operation, service: url.searchParams.get('service'), query };
  if (operation === 'git-upload-pack' || operation === 'git-receive-pack')
    return { owner, name, operation, service: operation, query };
  return undefined;
}

/** In version 2 of the protocol it says what git can do, and nothing of a repository: once for all of them. */
let advertised: Promise<Buffer> | undefined;

async function advertise(git: Git, dir: string): Promise<Buffer> {
  try {
    const env = { GIT_PROTOCOL: 'version=2' };
    return await git.run(['upload-pack', '--http-backend-info-refs', dir], '', env);
  } catch (error) {
    advertised = undefined;
    throw error;
  }
}

export async function serveGit(
  host: { registry: Registry; repositories: Repositories; pushes: Pushes },
  wanted: GitRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { registry, repositories, pushes } = host;
  const writes = wanted.service === 'git-receive-pack';
  if (!writes && wanted.service !== 'git-upload-pack')
    return refuse(response, 403, 'Please upgrade your git client: only the smart protocol is served.');
  const method = wanted.operation === 'info/refs' ? 'GET' : 'POST';
  if (request.method !== method) return refuse(response, 405, 'Method not allowed.');

  const caller = callerOf(registry, request.headers.authorization);
  const repository = registry.repository(wanted.owner, wanted.name);
  if (caller === 'refused') return askForToken(response, 'Invalid username or token.');
  const visible = repository && maySee(registry, caller, repository);
  // Without a token nobody learns whether there is such a repository.
  if (!caller && (writes || !visible)) return askForToken(response, 'Authentication is required.');
  if (!repository || !visible) return refuse(response, 404, 'Repository not found.');
  if (caller && writes && !mayPush(registry, caller, repository))
    return refuse(response, 403, deniedText(caller, repository));

  if (wanted.operation === 'info/refs' && !writes && request.headers['git-protocol'] === 'version=2') {
    const { git, dir } = repositories.of(repository);
    advertised ??= advertise(git, dir);
    response.writeHead(200, {
      'Content-Type': 'application/x-git-upload-pack-advertisement',
      'Cache-Control': 'no-cache, max-age=0, must-revalidate',
    });
    return void response.end(await advertised);
  }
  const path = `/${repositories.pathOf(repository).join('/')}/${wanted.operation}`;
  const login = caller?.account.login;
  const call = { root: repositories.root, path, query: wanted.query, login };
  const run = () => runBackend(repositories.git, call, request, response);
  if (caller && wanted.operation === 'git-receive-pack') await pushes.during(repository, caller.account, run);
  else await run();
  // Only now: who sees the end of a push may count on its events being on their way.
  response.end();
}

function deniedText(caller: Caller, repository: Repository): string {
  return `Permission to ${repository.owner}/${repository.name}.git denied to ${caller.account.login}.`;
}

function askForToken(response: ServerResponse, text: string): void {
  response.setHeader('WWW-Authenticate', 'Basic realm="GitHub"');
  refuse(response, 401, text);
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}
