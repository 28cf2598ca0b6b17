/** An authority of the test's own, made by openssl, and visitors over TLS that trust nobody else. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { Secret } from '../../src/secret.ts';
import { type Visit, visit } from './proxy.ts';

const run = promisify(execFile);

export interface MadeCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly bundle: Secret;
  readonly fingerprint: string;
}

export class TestAuthority {
  readonly file: string;
  readonly certificate: string;
  readonly #folder: string;
  #made = 0;

  private constructor(folder: string) {
    this.#folder = folder;
    this.file = join(folder, 'ca.crt');
    this.certificate = readFileSync(this.file, 'utf8');
  }

  /** A root, and one below it that signs: the chain has to be sent. */
  static async open(t: TestContext): Promise<TestAuthority> {
    const folder = mkdtempSync(join(tmpdir(), 'authority-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    await openssl(
      'req',
      '-x509',
      ...key,
      '-subj',
      '/CN=root',
      '-days',
      '9',
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
    );
    await openssl('req', ...key, '-subj', '/CN=between', '-keyout', 'mid.key', '-out', 'mid.csr');
    writeFileSync(join(folder, 'mid.ext'), 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n');
    const sign = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-days', '9', '-extfile', 'mid.ext'];
    await openssl('x509', '-req', '-in', 'mid.csr', ...sign, '-out', 'mid.crt');
    return new TestAuthority(folder);
  }

  async make(
    names: readonly string[],
    { kind = 'ec' as 'ec' | 'rsa', days = 5 } = {},
  ): Promise<MadeCertificate> {
    this.#made += 1;
    const at = (end: string) => join(this.#folder, `${this.#made}.${end}`);
    const key = kind === 'ec' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : ['rsa:2048'];
    const csr = ['-subj', '/', '-keyout', at('key'), '-out', at('csr')];
    await run('openssl', ['req', '-newkey', ...key, '-nodes', ...csr]);
    writeFileSync(at('ext'), `subjectAltName=${names.map((name) => `DNS:${name}`).join()}\n`);
    const ca = ['-CA', join(this.#folder, 'mid.crt'), '-CAkey', join(this.#folder, 'mid.key')];
    const rest = ['-days', String(days), '-extfile', at('ext'), '-out', at('crt')];
    await run('openssl', ['x509', '-req', '-in', at('csr'), ...ca, ...rest]);
    const certificate = readFileSync(at('crt'), 'utf8') + readFileSync(join(this.#folder, 'mid.crt'), 'utf8');
    const privateKey = readFileSync(at('key'), 'utf8');
    const { fingerprint256: fingerprint } = new X509Certificate(certificate);
    return { certificate, key: privateKey, bundle: new Secret(certificate + privateKey), fingerprint };
  }
}

/** What a handshake for that name shows, by whomever it was issued. */
export function shownFor(address: string, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: address, port: 443, servername, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? 'none');
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

export interface TlsPlace {
  readonly address: string;
  readonly host: string;
  readonly ca: string;
}

/** Chain and name are verified. */
export function visitTls(place: TlsPlace, path = '/', options: https.RequestOptions = {}): Promise<Visit> {
  const { address, host, ca } = place;
  const headers = { host, ...options.headers };
  return visit(`https://${address}${path}`, { ...options, servername: host, ca, headers });
}

/** Some keep their connection; others make one, and shake hands anew, for each request. */
export class TlsVisitors {
  readonly failures: string[] = [];
  readonly shown = new Set<string>();
  answered = 0;
  #goesOn = true;
  readonly #all: Promise<void>[];

  constructor(t: TestContext, place: TlsPlace, { kept = 16, fresh = 4 } = {}) {
    t.after(() => this.end());
    const go = (isKept: boolean) => (_: unknown) => this.#go(place, isKept);
    this.#all = [...Array.from({ length: kept }, go(true)), ...Array.from({ length: fresh }, go(false))];
  }

  async #go(place: TlsPlace, isKept: boolean): Promise<void> {
    const agent = new https.Agent({ keepAlive: isKept, maxSockets: 1, maxCachedSessions: 0 });
    agent.on('keylog', (_line, socket: tls.TLSSocket) => {
      socket.once('secureConnect', () => {
        const certificate = socket.getPeerX509Certificate();
        if (!isKept && certificate) this.shown.add(certificate.fingerprint256);
      });
    });
    for (let turn = 0; this.#goesOn; turn += 1) {
      try {
        const { status, text } = await visitTls(place, '/', { agent });
        if (status !== 200) throw new Error(`${status} ${text}`);
        this.answered += 1;
      } catch (error) {
        this.failures.push(`${isKept ? 'kept' : 'fresh'} ${turn}: ${error}`);
      }
    }
    agent.destroy();
  }

  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#all);
  }
}
