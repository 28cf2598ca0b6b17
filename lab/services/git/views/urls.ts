/** The addresses that answers name. */
import type { Repository } from '../state.ts';

export const apiPath = '/api/v3';

export class Urls {
  /** Without a slash at its end. */
  readonly base: string;
  readonly api: string;
  readonly hostname: string;
  constructor(base: string) {
    const { hostname } = new URL(base);
    this.base = base.replace(/\/+$/, '');
    this.api = `${this.base}${apiPath}`;
    this.hostname = hostname;
  }

  page({ owner, name }: Repository): string {
    return `${this.base}/${owner}/${name}`;
  }

  apiOf({ owner, name }: Repository): string {
    return `${this.api}/repos/${owner}/${name}`;
  }

  clone(repository: Repository): string {
    return `${this.page(repository)}.git`;
  }
}

/** A path or a branch inside an address: its slashes stay. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

export function nodeId(kind: string, id: number | string): string {
  return Buffer.from(`0:${kind}${id}`).toString('base64');
}
