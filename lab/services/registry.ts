/** The registry that the servers use as their mirror: Debian's own, over the images that the lab has made. */
import { join } from 'node:path';
import { cacheDir, ports } from '../places.ts';
import type { Tools } from './tools.ts';

export const registryDir = join(cacheDir, 'registry');

export function configureRegistry(tools: Tools, address: string): void {
  tools.put(
    '/lab/registry.yml',
    [
      'version: 0.1',
      'log: {level: warn, accesslog: {disabled: true}}',
      // Two labs serve the same folder, so neither writes.
      'storage: {filesystem: {rootdirectory: /images}, maintenance: {readonly: {enabled: true}}}',
      `http: {addr: "${address}:${ports.registry}", relativeurls: true}`,
      '',
    ].join('\n'),
  );
}

export async function startRegistry(tools: Tools, address: string): Promise<string> {
  const url = `http://${address}:${ports.registry}`;
  await tools.start(
    'docker-registry',
    ['serve', '/lab/registry.yml'],
    { OTEL_TRACES_EXPORTER: 'none' },
    async () => {
      const answer = await fetch(`${url}/v2/`);
      return answer.ok;
    },
  );
  return url;
}
