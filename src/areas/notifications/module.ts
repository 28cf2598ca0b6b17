/** Notifications as a part of the service. */
import { noticesChannel } from '../../events/notices.ts';
import type { Module } from '../../http/module.ts';
import { consentPages } from './consent-page.ts';
import { Deliveries, pruneNotificationsSchedule } from './deliveries.ts';
import type { NotificationsContext } from './notifications.ts';
import { notificationRoutes } from './routes.ts';

export interface NotificationsModule extends Module {
  readonly deliveries: Deliveries;
}

export function notificationsModule(ctx: NotificationsContext, eventDays: number): NotificationsModule {
  const deliveries = new Deliveries(ctx);
  return {
    deliveries,
    routes: (routes) => {
      notificationRoutes(routes, ctx);
      routes.encapsulate((server) => consentPages(server, ctx));
    },
    schedules: [pruneNotificationsSchedule(ctx, eventDays)],
    hears: { [noticesChannel]: deliveries },
    start: () => deliveries.start(),
    stop: () => deliveries.stop(),
  };
}
