/** The names of an environment as routes of the proxy, and those that a certificate has to cover. */
import type { ProxyRoute } from '../../adapters/proxy/routes.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { listNames, type NameRow, type Www } from './name-queries.ts';

export async function routesOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<ProxyRoute[]> {
  return (await listNames(db, workspaceId, [environmentId])).flatMap(routesOfName);
}

/** The hostname, and the one with `www.` where it redirects. */
export function namesOf({ hostname, www }: { readonly hostname: string; readonly www: Www }): string[] {
  return www === 'none' ? [hostname] : [hostname, `www.${hostname}`];
}

export function servingName({ hostname, www }: { readonly hostname: string; readonly www: Www }): string {
  return www === 'redirect_to_www' ? `www.${hostname}` : hostname;
}

/** Under TLS only once its certificate is there: until then it is served over HTTP, so that it is served at all. */
function routesOfName(row: NameRow): ProxyRoute[] {
  const tls = hasCertificate(row);
  const serving = servingName(row);
  return namesOf(row).map((host) => ({
    host,
    tls,
    redirectHttp: tls && row.redirectHttp,
    hstsSeconds: tls ? row.hstsSeconds : null,
    redirectTo: host === serving ? null : serving,
  }));
}

export function hasCertificate({ sslMode, notAfter }: Pick<NameRow, 'sslMode' | 'notAfter'>): boolean {
  return sslMode !== 'off' && notAfter !== null;
}
