/**
 * Certificates of the proxy, without a reload: written to the server first, so that a proxy that is started at any
 * instant has them, then given to the running one. A name that two certificates are made out for shows the one that was
 * installed last. Whether they are still valid is not looked at: one that has run out is better than a stranger's.
 */
import { X509Certificate } from 'node:crypto';
import { type CertificateSpec, checkBundle, mustBeCertificateId } from './certificate-bundle.ts';
import { installScript, readScript, removeScript } from './certificate-program.ts';
import type { ProxyWork } from './fronts.ts';
import { runProxyScript } from './server-program.ts';

export interface SeenCertificate {
  readonly id: string;
  /** Which names the running proxy shows it for. */
  readonly names: readonly string[];
  /** SHA-256, as Node prints it, of what the running proxy has; null: nothing, or another than the file. */
  readonly fingerprint: string | null;
  /** Of what the running proxy has. */
  readonly notAfter: Date | null;
  /** A proxy that is started now begins with the same. */
  readonly agrees: boolean;
}

/**
 * Returns once the server has shown it in a handshake for each of its names; until then, and where that fails, what was
 * shown before is.
 */
export async function installCertificate(work: ProxyWork, spec: CertificateSpec): Promise<void> {
  const { pem, leaf } = checkBundle(spec);
  const content = pem.reveal();
  const lines = [
    `id ${spec.id}`,
    `names ${[...new Set(spec.names)].sort().join(' ')}`,
    `leaf ${Buffer.byteLength(leaf)}`,
    `content ${Buffer.byteLength(content)}`,
  ];
  await runProxyScript(work, installScript, `${lines.join('\n')}\n${leaf}${content}`, {
    secrets: [pem, spec.bundle],
  });
}

/** Its names get the certificate for all others, unless another was installed for them. */
export async function removeCertificate(work: ProxyWork, id: string): Promise<void> {
  mustBeCertificateId(id);
  await runProxyScript(work, removeScript, `${id}\n`);
}

/** Looks only. Where the proxy does not run, nothing agrees. */
export async function readCertificates({
  remote,
  signal,
}: Omit<ProxyWork, 'fence'>): Promise<SeenCertificate[]> {
  const options = { maxOutputBytes: 32 * 1024 * 1024 };
  const said = await runProxyScript({ remote, signal }, readScript, '', options);
  const rows = said.split('\n').map((line) => line.split(' '));
  const ids = new Set(rows.flatMap(([kind, id]) => (kind !== 'runs' && id ? [id] : [])));
  return [...ids].sort().map((id) => {
    const of = (kind: string) => rows.find((row) => row[0] === kind && row[1] === id)?.slice(2);
    return seen(id, of);
  });
}

function seen(id: string, of: (kind: string) => string[] | undefined): SeenCertificate {
  const inFile = leafOf(of('file')?.[0]);
  const names = of('shown') ?? [];
  const isSame = inFile !== null && inFile.fingerprint.replaceAll(':', '') === of('has')?.[0];
  const until = of('until')?.join(' ');
  return {
    id,
    names,
    fingerprint: isSame ? inFile.fingerprint256 : null,
    notAfter: until === undefined ? null : new Date(until),
    agrees: isSame && names.join() === (of('written') ?? []).join(),
  };
}

/** Null where the file is damaged: there is nothing then that could agree. */
function leafOf(base64: string | undefined): X509Certificate | null {
  if (base64 === undefined) return null;
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return null;
  }
}
