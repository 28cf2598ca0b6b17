/** The OpenAPI document as the running service gives it, formatted as it is committed. */
import { rmSync } from 'node:fs';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { openApiDocument } from '../../src/http/document.ts';
import { createLog } from '../../src/log.ts';
import { temporaryFolder } from './postgres.ts';

export async function currentOpenApi(): Promise<string> {
  const dataDir = temporaryFolder('openapi');
  const config = readConfig({ SLIPWAY_DATA_DIR: dataDir, SLIPWAY_PORT: '0' });
  const app = await startApp(config, createLog('silent'));
  try {
    return `${JSON.stringify(openApiDocument(app.server), null, 2)}\n`;
  } finally {
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
