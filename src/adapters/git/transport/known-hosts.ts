/**
 * Host keys of Git hosts that are spoken to over ssh. The key of the first contact is kept, one small file for each
 * host, and every later contact must show it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HostKeyFingerprint } from '../../../remote/remote.ts';
import { readFileIfExists, writeFileAtomic } from '../../../store/files.ts';

export class KnownHosts {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  find(host: string, port: number): HostKeyFingerprint | undefined {
    const line = readFileIfExists(this.#file(host, port))?.split('\n')[0];
    return line === '' ? undefined : line;
  }

  add(host: string, port: number, fingerprint: HostKeyFingerprint): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileAtomic(this.#file(host, port), `${fingerprint}\n${host}:${port}\n`, 0o600);
  }

  /** The next contact stores the new one: for a person who has compared the keys. */
  remove(host: string, port: number): void {
    rmSync(this.#file(host, port), { force: true });
  }

  #file(host: string, port: number): string {
    return join(this.#folder, createHash('sha256').update(`${host}:${port}`).digest('hex').slice(0, 32));
  }
}
