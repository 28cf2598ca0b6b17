/** The OpenAPI document as the running service gives it, formatted as it is committed. */
import { rmSync } from 'node:fs';
import swagger from '@fastify/swagger';
import { openApiOptions } from '../../scripts/openapi/describe-routes.ts';
import { openApiDocument } from '../../scripts/openapi/finish-document.ts';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { temporaryFolder } from './postgres.ts';

export async function currentOpenApi(): Promise<string> {
  const dataDir = temporaryFolder('openapi');
  const config = readConfig({ SLIPWAY_DATA_DIR: dataDir, SLIPWAY_PORT: '0' });
  const app = await startApp(config, createLog('silent'), {
    onServer: (server) => server.register(swagger, openApiOptions),
  });
  try {
    return `${JSON.stringify(openApiDocument(app.server), null, 2)}\n`;
  } finally {
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
