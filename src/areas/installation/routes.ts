/** The paths of the installation. */
import type { Routes } from '../../http/routes.ts';
import { apiPrefix } from '../../http/server.ts';
import { changeInstallation, type InstallationContext, readInstallation, testMail } from './installation.ts';
import * as schemas from './schemas.ts';

const operator = { kind: 'operator' } as const;
const base = `${apiPrefix}/installation`;

export function installationRoutes(routes: Routes, ctx: InstallationContext): void {
  const route = routes.tagged('Installation');
  route.get(base, {
    access: operator,
    schema: {
      operationId: 'getInstallation',
      summary: 'What is of the whole installation',
      description: 'For those who look after it: the first account, and whom it has made one.',
      response: { 200: schemas.InstallationAnswer },
    },
    handler: () => readInstallation(ctx),
  });

  route.patch(base, {
    access: { ...operator, fresh: true },
    schema: {
      operationId: 'updateInstallation',
      summary: 'Change who may register, and who looks after the installation',
      body: schemas.ChangeBody,
      response: { 200: schemas.InstallationAnswer },
    },
    handler: ({ body }) => changeInstallation(ctx, body),
  });

  route.post(`${base}/test-mail`, {
    access: operator,
    limit: 'connector-test',
    schema: {
      operationId: 'testMail',
      summary: 'Send a mail to yourself',
      response: { 200: schemas.TestMailAnswer },
    },
    handler: ({ principal }) => testMail(ctx, principal.accountId),
  });
}
