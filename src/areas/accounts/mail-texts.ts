/** The texts of mails: short, plain and HTML from the same words, with nothing a stranger chose in them. */
import type { Message } from '../../adapters/mail/mail.ts';

export interface ResetLink {
  readonly token: string;
  readonly url: string;
}

export function oneTimeCodeMail(to: string, code: string): Message {
  return message(to, `${code} is your Slipway code`, [
    { text: 'Your code to confirm this address:' },
    { code },
    { text: 'It works once, for ten minutes. If you did not ask for an account, ignore this mail.' },
  ]);
}

export function alreadyRegisteredMail(to: string, link: ResetLink | undefined): Message {
  return message(to, 'You already have a Slipway account', [
    {
      text: 'Someone, perhaps you, tried to register with this address. It already has an account, so nothing was changed.',
    },
    { text: 'If you forgot the password, set a new one within 30 minutes:' },
    ...(link ? [{ link: link.url }] : []),
  ]);
}

export function resetPasswordMail(to: string, link: ResetLink): Message {
  return message(to, 'Set a new Slipway password', [
    { text: 'Open this link within 30 minutes to set a new password. It works once.' },
    { link: link.url },
    { text: 'If you did not ask for it, ignore this mail: your password stays as it is.' },
  ]);
}

export function setPasswordMail(to: string, link: ResetLink): Message {
  return message(to, 'Choose your Slipway password', [
    {
      text: 'Your account is ready. More than one password was sent while it was being made, perhaps by someone else, so none of them was taken.',
    },
    { text: 'Choose one within 30 minutes:' },
    { link: link.url },
  ]);
}

export function oidcLinkedMail(to: string): Message {
  return message(to, 'Your Slipway account was linked', [
    { text: 'Your account can be signed in to with the single sign-on of this Slipway from now on.' },
    { text: 'If that was not you, set a new password at once, sign in, and unlink it.' },
  ]);
}

export function passwordChangedMail(to: string): Message {
  return message(to, 'Your Slipway password was changed', [
    { text: 'The password of your account was changed, and every session was signed out.' },
    { text: 'If that was not you, set a new password at once: whoever did it can read your mail.' },
  ]);
}

export interface SignInLocation {
  readonly browser: string;
  readonly ip: string;
  readonly at: Date;
}

export function newLocationMail(to: string, { browser, ip, at }: SignInLocation): Message {
  return message(to, 'Your Slipway account was used from a new location', [
    { text: `Someone signed in to your account with ${browser}, from ${ip}, at ${at.toISOString()}.` },
    { text: 'If that was you, there is nothing to do.' },
    { text: 'If not, set a new password at once: that ends every session of your account.' },
  ]);
}

/** By what has changed. Each tells what to do where it was somebody else. */
const secondFactorTexts: Readonly<Record<string, readonly [subject: string, text: string]>> = {
  totp_on: [
    'An authenticator app was added to your Slipway account',
    'Its codes are asked for at each sign-in.',
  ],
  totp_off: [
    'The authenticator app was removed from your Slipway account',
    'Its codes are asked for no more.',
  ],
  passkey_added: [
    'A passkey was added to your Slipway account',
    'It can be used as second factor at each sign-in.',
  ],
  passkey_removed: ['A passkey was removed from your Slipway account', 'It can be used no more.'],
  recovery_codes_renewed: [
    'Your Slipway recovery codes were replaced',
    'Those that you had before work no more.',
  ],
  recovery_code_used: ['A recovery code of your Slipway account was used', 'It works no more.'],
  all_removed: [
    'The second factors of your Slipway account were removed',
    'Whoever runs the service removed all of them, with the recovery codes. Set up a new one.',
  ],
  locked: [
    'Somebody tries to get past the second factor of your Slipway account',
    'They know your password, and sent so many wrong codes that none are taken for an hour.',
  ],
};

export function secondFactorMail(to: string, change: string, left: string): Message | undefined {
  const found = secondFactorTexts[change];
  if (!found) return undefined;
  const [subject, text] = found;
  return message(to, subject, [
    { text: left === '' ? text : `${text} You have ${left} left.` },
    {
      text: 'If that was not you, set a new password at once, which ends every session; then look at your second factors.',
    },
  ]);
}

export function connectorDisabledMail(
  to: string,
  { name, detail }: { readonly name: string; readonly detail: string },
): Message {
  return message(to, 'A notification connector was switched off', [
    {
      text: `Nothing could be delivered by the notification connector «${name}» for a day, so it was switched off.`,
    },
    { text: `What the receiver said last: ${detail}` },
    {
      text: 'Put it right and switch it on again. What it did not deliver meanwhile is in the list of its deliveries.',
    },
  ]);
}

export interface ConsentLink {
  readonly url: string;
  /** The address of whoever has their account with it. */
  readonly askedBy: string;
}

export function recipientConsentMail(to: string, { url, askedBy }: ConsentLink): Message {
  return message(to, 'Do you want notifications from Slipway?', [
    { text: `${askedBy} wants notifications of their deployments to be sent to this address.` },
    { text: 'Open this link within seven days to agree, or to be left alone for good:' },
    { link: url },
    { text: 'If you do nothing, nothing is sent to you.' },
  ]);
}

export interface InvitationLink {
  readonly url: string;
  readonly workspace: string;
  /** The address of whoever invites; null where their account is gone. */
  readonly invitedBy: string | null;
}

export function invitationMail(to: string, { url, workspace, invitedBy }: InvitationLink): Message {
  return message(to, 'You are invited to a workspace on Slipway', [
    { text: `${invitedBy ?? 'Someone'} invites you to the workspace «${workspace}».` },
    { text: 'Open this link within seven days to join. It works once, for this address alone:' },
    { link: url },
    { text: 'If you do not know them, ignore this mail: nothing happens then.' },
  ]);
}

type Part = { readonly text: string } | { readonly code: string } | { readonly link: string };

function message(to: string, subject: string, parts: readonly Part[]): Message {
  const plain = parts.map((part) =>
    'text' in part ? part.text : `    ${'code' in part ? part.code : part.link}`,
  );
  const body =
    'font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;max-width:34em;margin:2em auto;padding:0 1em';
  const html = `<!doctype html><html lang="en"><body style="${body}">${parts.map(htmlOf).join('')}</body></html>`;
  return { to, subject, text: `${plain.join('\n\n')}\n`, html };
}

function htmlOf(part: Part): string {
  if ('text' in part) return `<p>${escapeHtml(part.text)}</p>`;
  if ('link' in part) return `<p><a href="${escapeHtml(part.link)}">${escapeHtml(part.link)}</a></p>`;
  return `<p style="font:600 28px/1.4 ui-monospace,monospace;letter-spacing:.15em">${escapeHtml(part.code)}</p>`;
}

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (each) => entities[each] ?? each);
}
