/** Accounts as a part of the service. */
import type { Module } from '../../http/module.ts';
import type { AccountsContext } from './accounts.ts';
import { apiTokenRoutes } from './api-tokens/routes.ts';
import { deviceCodeRoutes } from './device-codes/routes.ts';
import type { MailOutbox } from './mail-outbox.ts';
import type { OidcContext } from './oidc/oidc.ts';
import { oidcRoutes } from './oidc/routes.ts';
import { preparePasswords } from './passwords.ts';
import { accountRoutes } from './routes.ts';
import { secondFactorRoutes } from './second-factors/routes.ts';
import { pruneAccountsSchedule } from './sessions.ts';

export function accountsModule(
  ctx: AccountsContext,
  oidc: OidcContext,
  mails: MailOutbox,
  isSecure: () => boolean,
): Module {
  return {
    routes: (routes) => {
      accountRoutes(routes, ctx, isSecure);
      secondFactorRoutes(routes, ctx);
      oidcRoutes(routes, oidc, isSecure);
      deviceCodeRoutes(routes, ctx);
      apiTokenRoutes(routes, ctx);
    },
    schedules: [pruneAccountsSchedule(ctx)],
    start: () => {
      mails.start();
      void preparePasswords();
    },
    stop: () => mails.stop(),
  };
}
