/** Certificates for tests, made by openssl: another hand than the one that is tested. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

export interface Made {
  readonly name: string;
  readonly pem: string;
  /** PKCS #8. */
  readonly key: string;
}

export interface Wish {
  readonly names?: readonly string[];
  readonly by?: Made;
  readonly isAuthority?: boolean;
  /** As openssl takes it for -newkey, in its parts. */
  readonly key?: readonly string[];
  readonly digest?: string;
  readonly usage?: string;
  /** Left out: whose key signed it stands in the signature alone. */
  readonly hasIssuerKey?: boolean;
}

const p256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

export class Workshop {
  readonly #dir = mkdtempSync(join(tmpdir(), 'slipway-test-certificates-'));
  #count = 0;

  constructor() {
    after(() => rmSync(this.#dir, { recursive: true, force: true }));
  }

  openssl(...args: string[]): string {
    return execFileSync('openssl', args, {
      cwd: this.#dir,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  file(name: string, text: string): string {
    writeFileSync(join(this.#dir, name), text);
    return name;
  }

  /** Signed by itself unless somebody else is named. */
  make(commonName: string, wish: Wish = {}): Made {
    const id = `c${this.#count++}`;
    const {
      key = p256,
      names = [],
      by,
      isAuthority = false,
      digest = 'sha256',
      usage,
      hasIssuerKey = true,
    } = wish;
    const subject = ['-subj', `/O=Test/CN=${commonName}`];
    this.openssl('req', '-newkey', ...key, '-noenc', '-keyout', `${id}.key`, '-out', `${id}.csr`, ...subject);
    const extensions = [
      `basicConstraints=critical,CA:${isAuthority ? 'TRUE' : 'FALSE'}`,
      ...(names.length > 0 ? [`subjectAltName=${names.join(',')}`] : []),
      ...(hasIssuerKey ? [] : ['authorityKeyIdentifier=none']),
      ...(usage ? [`extendedKeyUsage=${usage}`] : []),
    ];
    return { ...this.#sign(id, extensions, by, digest), name: commonName };
  }

  /** What an authority does with the request of a client. */
  signRequest(der: Buffer, names: readonly string[], by: Made): string {
    const id = `c${this.#count++}`;
    writeFileSync(join(this.#dir, `${id}.der`), der);
    this.openssl('req', '-inform', 'DER', '-in', `${id}.der`, '-out', `${id}.csr`, '-verify', '-noout');
    this.openssl('req', '-inform', 'DER', '-in', `${id}.der`, '-out', `${id}.csr`);
    this.file(`${id}.key`, '');
    return this.#sign(id, [`subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`], by, 'sha256')
      .pem;
  }

  #sign(id: string, extensions: readonly string[], by: Made | undefined, digest: string): Made {
    this.file(`${id}.ext`, extensions.join('\n'));
    const signer = by
      ? ['-CA', this.file(`${id}.ca`, by.pem), '-CAkey', this.file(`${id}.cakey`, by.key), '-CAcreateserial']
      : ['-signkey', `${id}.key`];
    const rest = ['-days', '90', `-${digest}`, '-extfile', `${id}.ext`, '-out', `${id}.pem`];
    this.openssl('x509', '-req', '-in', `${id}.csr`, ...signer, ...rest);
    const read = (name: string) => readFileSync(join(this.#dir, name), 'utf8');
    return { name: id, pem: read(`${id}.pem`), key: read(`${id}.key`) };
  }
}
