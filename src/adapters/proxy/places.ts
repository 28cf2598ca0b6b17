/** Where the proxy keeps things: on the server, and as its container sees the same folders. */
import type { EnvironmentId } from '../../ids.ts';

export const proxyContainer = 'slipway-proxy';

export const proxyFolder = '/var/lib/slipway/proxy';

/** The same folder inside the container, read-only there. */
export const proxyFolderInside = '/etc/slipway';

/** Which front a name leads to. */
export const hostsMapInside = `${proxyFolderInside}/config/hosts.map`;

/** What else is to be done with requests to a name: `policyOf` says how it is written. */
export const policiesMapInside = `${proxyFolderInside}/config/policies.map`;

/** What holds for all names of the server. */
export const settingsMapInside = `${proxyFolderInside}/config/settings.map`;

/** Certificates, and the names that each is shown for. Its first line is the one for all others. */
export const certificateListInside = `${proxyFolderInside}/config/certificates.list`;

export const defaultCertificateInside = `${proxyFolderInside}/certificates/default.pem`;

/** HAProxy's names take dashes too, but a name that is one word everywhere is easier to look for. */
export function backendOf(id: EnvironmentId): string {
  return `app_${id.replaceAll('-', '_')}`;
}

export function frontendOf(id: EnvironmentId): string {
  return `port_${id.replaceAll('-', '_')}`;
}

/** In every backend, a server that gets no requests. While it is up, all requests wait. */
export const allWait = 'all_wait';

export function frontFileOf(id: EnvironmentId): string {
  return `front-${id}.cfg`;
}
