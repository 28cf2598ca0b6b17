/** Accounts as a part of the service. */
import type { Module } from '../../http/module.ts';
import type { AccountsContext } from './accounts.ts';
import type { OwedMails } from './owed-mails.ts';
import { preparePasswords } from './passwords.ts';
import { resetPage } from './reset-page.ts';
import { accountRoutes } from './routes.ts';
import { tidySchedule } from './tidy-accounts.ts';

export function accountsModule(
  ctx: AccountsContext,
  mails: OwedMails,
  hasSecureCookies: () => boolean,
): Module {
  return {
    routes: (routes) => {
      accountRoutes(routes, ctx, hasSecureCookies);
      routes.encapsulate(resetPage);
    },
    schedules: [tidySchedule(ctx)],
    start: () => {
      mails.start();
      void preparePasswords();
    },
    stop: () => mails.stop(),
  };
}
