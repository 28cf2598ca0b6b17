/** The authority that certificates come from, as the settings say. */
import type { Acme } from '../../adapters/acme/acme.ts';

export interface Authority {
  readonly directoryUrl: string;
  /** What has to stand in a CAA record for it; empty where nobody knows. */
  readonly caaNames: readonly string[];
  readonly acme: () => Promise<Acme>;
}

/** The name that authorities use for themselves; those of others are not known. */
export function caaNamesOf(directoryUrl: string): string[] {
  const host = new URL(directoryUrl).hostname;
  const known: readonly (readonly [string, string])[] = [
    ['letsencrypt.org', 'letsencrypt.org'],
    ['pki.goog', 'pki.goog'],
    ['zerossl.com', 'sectigo.com'],
    ['buypass.com', 'buypass.com'],
    ['ssl.com', 'ssl.com'],
  ];
  return known.filter(([suffix]) => host === suffix || host.endsWith(`.${suffix}`)).map(([, name]) => name);
}
