/** Pebble, the test authority of Let's Encrypt: real ACME, real certificates, a root that nobody else trusts. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../command.ts';
import { ports } from '../places.ts';
import type { Tools } from './tools.ts';

export interface Acme {
  readonly directory: string;
  readonly management: string;
}

/** `caFile` gets the authority that signed Pebble's own address; programs that talk to it have to trust it. */
export async function configureAcme(tools: Tools, address: string, caFile: string): Promise<void> {
  const { ca, certificate, key } = await certificateFor(address);
  writeFileSync(caFile, ca);
  tools.put('/lab/acme-cert.pem', certificate);
  tools.put('/lab/acme-key.pem', key);
  const pebble = {
    listenAddress: `${address}:${ports.acme}`,
    managementListenAddress: `${address}:${ports.acmeManagement}`,
    certificate: '/lab/acme-cert.pem',
    privateKey: '/lab/acme-key.pem',
    httpPort: 80,
    tlsPort: 443,
  };
  tools.put('/lab/pebble.json', JSON.stringify({ pebble }));
}

export async function startAcme(tools: Tools, address: string, caFile: string): Promise<Acme> {
  const directory = `https://${address}:${ports.acme}/dir`;
  const args = ['-config', '/lab/pebble.json', '-dnsserver', `${address}:${ports.dns}`];
  // It waits a random while before each validation otherwise, up to 15 s.
  const env = { PEBBLE_VA_NOSLEEP: '1' };
  await tools.start('pebble', args, env, async () => (await getOver(directory, caFile)).includes('newOrder'));
  return { directory, management: `https://${address}:${ports.acmeManagement}` };
}

/** A GET that trusts this authority alone. */
export function getOver(url: string, caFile: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca: readFileSync(caFile) }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      answer.once('error', reject);
    });
    asked.once('error', reject);
    asked.end();
  });
}

async function certificateFor(address: string): Promise<{ ca: string; certificate: string; key: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'slipway-lab-ca-'));
  const file = (name: string) => join(dir, name);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: dir });
  try {
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
    const authority = ['-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Slipway lab', '-days', '30'];
    await openssl('req', '-x509', ...ec, ...authority);
    await openssl('req', ...ec, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=Slipway lab ACME');
    writeFileSync(file('ext.cnf'), `subjectAltName=IP:${address},DNS:acme.lab.test\n`);
    const signing = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '30',
      '-extfile',
      'ext.cnf',
    ];
    await openssl('x509', '-req', '-in', 'request.pem', '-out', 'cert.pem', ...signing);
    const [ca, certificate, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) =>
      readFileSync(file(name), 'utf8'),
    );
    if (!ca || !certificate || !key) throw new Error('openssl made no certificate');
    return { ca, certificate, key };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
