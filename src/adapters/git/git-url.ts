/**
 * Addresses of repositories: https, ssh, and the short form `git@host:path`. Owns which of them may be used at all.
 * Refused are other transports (`ext::` runs a program), whatever could be read as an option, and user names or
 * passwords in an https address: they would be shown in process lists and kept in files.
 */
import { isIP } from 'node:net';
import { Fault } from '../../fault.ts';

export interface GitUrl {
  readonly scheme: 'https' | 'http' | 'ssh';
  /** Without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  /** Of ssh only. */
  readonly user: string | undefined;
  /** With a leading slash, but for ssh's short form, where it may start in the user's home. */
  readonly path: string;
  /** As git gets it. */
  readonly text: string;
}

const ports = { https: 443, http: 80, ssh: 22 } as const;
const longest = 2_000;
/** Neither blanks nor control characters, nor what a shell or an ssh server's parser might give a meaning to. */
const unsafe = /[^!-~]|["'`\\<>|;&$(){}*?#[\]^]/;

export function parseGitUrl(text: string, options: { readonly allowHttp?: boolean } = {}): GitUrl {
  if (text.length > longest) throw refused('The address of the repository is too long.');
  if (/[\0-\x20\x7f]/.test(text))
    throw refused('The address of the repository has characters that it must not have.');
  const short = /^([^/@:]+)@([^/@:]+):(?!\/\/)(.+)$/.exec(text);
  if (short && !text.includes('://')) {
    const [, user = '', host = '', path = ''] = short;
    return sshUrl(user, host, ports.ssh, path, text);
  }
  const scheme = /^(https?|ssh):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !URL.canParse(text)) throw refused('This is not the address of a repository.');
  const url = new URL(text);
  if (url.password !== '' || (scheme !== 'ssh' && url.username !== ''))
    throw refused('The address of the repository must not contain a user name or a password.');
  if (url.search !== '' || url.hash !== '')
    throw refused('The address of the repository must not have a query or a fragment.');
  if (scheme === 'ssh')
    return sshUrl(url.username || 'git', url.hostname, Number(url.port) || ports.ssh, url.pathname);
  if (scheme === 'http' && options.allowHttp !== true) {
    throw refused('Repositories are not fetched over plain http.', 'Use the https address.');
  }
  const kind = scheme === 'http' ? 'http' : 'https';
  // Known schemes have their host checked and normalised by the URL parser; decimal addresses are dotted by now.
  checkPath(url.pathname);
  const port = Number(url.port) || ports[kind];
  return {
    scheme: kind,
    host: bare(url.hostname),
    port,
    user: undefined,
    path: url.pathname,
    text: `${kind}://${url.host}${url.pathname}`,
  };
}

function sshUrl(user: string, hostname: string, port: number, path: string, text?: string): GitUrl {
  const host = bare(hostname).toLowerCase();
  const isName = /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(host) && host.length <= 253;
  if (!isName && isIP(host) === 0) throw refused('The address of the repository has no usable host name.');
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(user))
    throw refused('The address of the repository has no usable user name.');
  checkPath(path.startsWith('/') ? path : `/${path}`);
  if (path.startsWith('-')) throw refused('The path of the repository must not begin with a dash.');
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  const full = `ssh://${user}@${shown}${port === ports.ssh ? '' : `:${port}`}${path}`;
  return { scheme: 'ssh', host, port, user, path, text: text ?? full };
}

function checkPath(path: string): void {
  if (unsafe.test(path)) throw refused('The path of the repository has characters that it must not have.');
  const parts = path.split('/').filter((part) => part !== '');
  if (parts.length === 0) throw refused('The address names no repository.');
  if (parts.some((part) => part.startsWith('-') || part === '..'))
    throw refused('No part of the repository’s path may be «..» or begin with a dash.');
}

/** What a submodule's address means, seen from the repository that names it. */
export function resolveGitUrl(
  parent: GitUrl,
  text: string,
  options: { readonly allowHttp?: boolean },
): GitUrl {
  if (!/^\.{1,2}\//.test(text)) return parseGitUrl(text, options);
  const parts = parent.path.replace(/\/+$/, '').split('/');
  for (const step of text.split('/')) {
    if (step === '' || step === '.') continue;
    if (step !== '..') parts.push(step);
    else if (parts.length === 0 || parts.pop() === '') throw refused('The address leads out of the host.');
  }
  const path = parts.join('/');
  const absolute = parent.text.slice(0, parent.text.length - parent.path.length) + path;
  return parseGitUrl(absolute, options);
}

export function isSameOrigin(one: GitUrl, other: GitUrl): boolean {
  return one.scheme === other.scheme && one.host === other.host && one.port === other.port;
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function refused(sentence: string, hint?: string): Fault {
  return new Fault('invalid_input', sentence, {
    hint: hint ?? 'Addresses look like https://host/owner/name.git or git@host:owner/name.git.',
  });
}
