/** Every page of the dashboard, as everybody can use it. */
import { test } from 'node:test';
import { assertPagesGood } from '../support/browser.ts';
import { seedDashboard } from '../support/dashboard-scene.ts';
import { startEnvironmentScene } from '../support/environments.ts';

test('every page is accessible in both themes, and none is wider than a phone', async (t) => {
  const scene = await startEnvironmentScene(t);
  const { serverId } = await seedDashboard(scene);
  const { environmentId, projectId } = scene;
  const tabs = ['', '/logs', '/variables', '/services', '/domains', '/backups', '/settings'];
  await assertPagesGood(t, scene, [
    ...['/', `/projects/${projectId}`, '/servers', '/servers?ask=server', `/servers/${serverId}`],
    ...['/domains', '/backups', '/connectors', '/git'],
    ...[
      '/workspace',
      '/workspace/tokens',
      '/workspace/audit',
      '/workspace/settings',
      '/profile',
      '/device',
      '/installation',
    ],
    ...['/start', '/start/server', `/start/analysis?project=${projectId}`, '/nowhere'],
    ...['?ask=upload', '/variables?ask=env', '/backups?ask=schedule'].map(
      (dialog) => `/environments/${environmentId}${dialog}`,
    ),
    ...tabs.map((tab) => `/environments/${environmentId}${tab}`),
  ]);
});
