/** Where a host is: its pages at one address, its API at another that follows from it. */
import { Fault } from '../../fault.ts';
import type { GitHostKind } from './host.ts';

const usual: Record<GitHostKind, string> = {
  github: 'https://github.com',
  gitlab: 'https://gitlab.com',
  gitea: 'https://gitea.com',
  bitbucket: 'https://bitbucket.org',
};

const hostNames: Record<GitHostKind, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea',
  bitbucket: 'Bitbucket',
};

const apiPaths: Record<GitHostKind, string> = {
  github: '/api/v3',
  gitlab: '/api/v4',
  gitea: '/api/v1',
  bitbucket: '/2.0',
};

/** The address that is kept and compared: no slash at the end, none of the API's path, no credentials. */
export function normalBaseUrl(kind: GitHostKind, given?: string): string {
  if (given === undefined) return usual[kind];
  const url = URL.parse(given.trim());
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password)
    throw new Fault('invalid_input', 'The address of the Git host is not one of http or https.', {
      hint: 'Give an address such as https://git.example.com, without a user name.',
      errors: [{ path: 'baseUrl', message: 'is not an address of http or https without credentials' }],
    });
  const name = url.hostname;
  if (kind === 'github' && name === 'api.github.com') return usual.github;
  if (kind === 'bitbucket' && name === 'api.bitbucket.org') return usual.bitbucket;
  const path = url.pathname.replace(/\/+$/, '');
  const api = apiPaths[kind];
  return `${url.origin}${path.endsWith(api) ? path.slice(0, -api.length) : path}`;
}

export function apiUrlOf(kind: GitHostKind, baseUrl: string): string {
  if (kind === 'github' && baseUrl === usual.github) return 'https://api.github.com';
  if (kind === 'bitbucket' && baseUrl === usual.bitbucket) return 'https://api.bitbucket.org/2.0';
  const { protocol, host } = new URL(baseUrl);
  // GitHub's own clouds for single companies.
  if (kind === 'github' && host.endsWith('.ghe.com')) return `${protocol}//api.${host}`;
  return `${baseUrl}${apiPaths[kind]}`;
}

/**
 * The host in a sentence: its name, and its address where it is not the usual one. Most that have a Gitea run it
 * themselves, so there the usual one is named as well.
 */
export function hostLabel(kind: GitHostKind, baseUrl: string): string {
  return baseUrl === usual[kind] && kind !== 'gitea'
    ? hostNames[kind]
    : `${hostNames[kind]} at ${new URL(baseUrl).host}`;
}
