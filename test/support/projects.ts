/** Projects in tests: made over the API, and waited for. */
import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { until } from './until.ts';

export const expressApp = {
  'package.json': JSON.stringify({
    name: 'shop',
    scripts: { start: 'node server.js', build: 'node build.js' },
    dependencies: { express: '^5.0.0', pg: '^8.0.0' },
    engines: { node: '24' },
  }),
  'package-lock.json': '{"name":"shop","lockfileVersion":3,"packages":{}}',
  'server.js':
    "const express = require('express');\nconst { Pool } = require('pg');\nnew Pool({ connectionString: process.env.DATABASE_URL });\nconst secret = process.env.SESSION_SECRET;\nexpress().listen(process.env.PORT || 4000);\n",
  'build.js': '',
};

export async function newProject(
  service: TestApp,
  token: string,
  body: object,
): Promise<Record<string, unknown>> {
  const made = await service.call('POST', '/projects', { token, body });
  assert.equal(made.status, 201, made.text);
  return made.body;
}

/** The project once its analysis has ended, well or badly. */
export function analysed(service: TestApp, token: string, id: unknown): Promise<Record<string, unknown>> {
  return until(async () => {
    const { body } = await service.call('GET', `/projects/${id}`, { token });
    return ['succeeded', 'failed'].includes(Object(body.analysis).status) ? body : undefined;
  }, 'the analysis to end');
}
