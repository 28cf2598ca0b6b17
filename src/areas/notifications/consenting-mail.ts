/**
 * The mail of a workspace's connectors: the only one they are given, and it goes to nobody who has not agreed. Members
 * share one mail; everyone else gets their own, with the way to end it (RFC 8058).
 */
import type { Mail, MailReceipt, Transports } from '../../adapters/connectors/connectors.ts';
import type { Message } from '../../adapters/mail/mail.ts';
import { errorText } from '../../fault.ts';
import type { WorkspaceId } from '../../ids.ts';
import { askRecipients, readRecipients, unsubscribeLink } from './consent.ts';
import type { NotificationsContext } from './notifications.ts';

export function transportsOf(ctx: NotificationsContext, workspaceId: WorkspaceId): Transports {
  return {
    fetch: ctx.fetch,
    now: () => ctx.clock.now(),
    mail: (mail) => sendToConsenting(ctx, workspaceId, mail),
  };
}

async function sendToConsenting(
  ctx: NotificationsContext,
  workspaceId: WorkspaceId,
  { to, id, ...mail }: Mail,
): Promise<MailReceipt> {
  const now = ctx.clock.now();
  // Recipients from before anyone was asked, and those who were too many on the day they were named.
  if (await ctx.db.transaction((tx) => askRecipients(tx, workspaceId, to, now, false))) ctx.wakeMail();
  const recipients = await readRecipients(ctx.db, workspaceId, to);
  const members = recipients.flatMap(({ status, address }) => (status === 'member' ? [address] : []));
  const mails: Message[] = recipients.flatMap(({ status, address, id: recipientId }) => {
    if (status !== 'confirmed' || recipientId === null) return [];
    const link = unsubscribeLink(ctx, recipientId);
    const messageId = `<${id}.${recipientId}@notifications.slipway>`;
    return [{ ...withLink(mail, link), to: address, messageId, unsubscribe: link }];
  });
  if (members.length > 0)
    mails.unshift({ ...mail, to: members.join(', '), messageId: `<${id}@notifications.slipway>` });
  return sendAll(ctx, mails);
}

async function sendAll({ mailer }: NotificationsContext, mails: readonly Message[]): Promise<MailReceipt> {
  const answers: string[] = [];
  const failures: unknown[] = [];
  for (const each of mails) {
    try {
      answers.push(await mailer.send(each));
    } catch (error) {
      failures.push(error);
    }
  }
  const [answer = 'None of its recipients has agreed to get mail of this workspace.'] = answers;
  if (failures.length === 0) return { taken: answers.length, answer };
  // As with one mail to many: what the server took has left, and the others are named.
  if (answers.length === 0) throw failures[0];
  const refused = failures.map(errorText).join('; ');
  return {
    taken: answers.length,
    answer: `${answer} Not taken: ${failures.length} of ${mails.length}: ${refused}`,
  };
}

function withLink({ subject, text, html }: Omit<Mail, 'to' | 'id'>, link: string) {
  const words = 'You get this because you agreed to it. To get no more:';
  const style = 'color:#64748b;font-size:13px';
  const footer = `<p style="${style}">${words} <a href="${link}">unsubscribe</a></p>`;
  return {
    subject,
    text: `${text}\n${words} ${link}\n`,
    html: html.replace(/<\/body><\/html>$/, `${footer}$&`),
  };
}
