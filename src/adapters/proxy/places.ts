/** Where the proxy keeps things: on the server, and as its container sees the same folders. */
import type { EnvironmentId } from '../../ids.ts';

export const proxyContainer = 'slipway-proxy';

export const proxyFolder = '/var/lib/slipway/proxy';

/** The same folder inside the container, read-only there. */
export const proxyFolderInside = '/etc/slipway';

export const hostsMapInside = `${proxyFolderInside}/config/hosts.map`;

/** HAProxy's names take dashes too, but a name that is one word everywhere is easier to look for. */
export function backendOf(id: EnvironmentId): string {
  return `site_${id.replaceAll('-', '_')}`;
}

export function frontendOf(id: EnvironmentId): string {
  return `port_${id.replaceAll('-', '_')}`;
}

export function siteFileOf(id: EnvironmentId): string {
  return `site-${id}.cfg`;
}
