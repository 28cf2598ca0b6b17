/** The names of an environment as the proxy is told of them; and those that a certificate has to cover. Pure but for the read. */
import type { Endpoint, Front, Route } from '../../engine/engine.ts';
import type { Placement } from '../../engine/placement.ts';
import type { RunPlan } from '../../engine/release-spec.ts';
import type { Queryable } from '../../store/database.ts';
import { listNames, type NameRow, type Www } from './name-queries.ts';

/** What visitors of an environment meet where these answer. */
export async function frontOf(
  db: Queryable,
  { workspaceId, environmentId }: Placement,
  { holdSeconds }: RunPlan,
  endpoints: readonly Endpoint[],
): Promise<Front> {
  const routes = (await listNames(db, workspaceId, [environmentId])).flatMap(routesOfName);
  return { routes, endpoints, holdSeconds };
}

/** The hostname, and the one with `www.` where it redirects. */
export function namesOf({ hostname, www }: { readonly hostname: string; readonly www: Www }): string[] {
  return www === 'none' ? [hostname] : [hostname, `www.${hostname}`];
}

export function servingName({ hostname, www }: { readonly hostname: string; readonly www: Www }): string {
  return www === 'redirect_to_www' ? `www.${hostname}` : hostname;
}

/** Under TLS only once its certificate is there: until then it is served as it comes, so that it is served at all. */
function routesOfName(row: NameRow): Route[] {
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
