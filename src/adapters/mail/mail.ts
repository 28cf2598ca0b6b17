/**
 * Outgoing mail. Owns how a message becomes bytes and reaches a server or the outbox; knows nothing of
 * accounts, and does not retry: whoever owes a mail keeps it until `send` has returned.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { once } from '../../once.ts';
import type { Secret } from '../../secret.ts';
import { writeFileAtomic } from '../../store/files.ts';

export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The same for each try of the same mail: mailboxes know a repeat by it. Absent: a new one. */
  readonly messageId?: string;
  /** Where a POST ends mail of this kind: mail programs show a button for it (RFC 8058). */
  readonly unsubscribe?: string;
}

export interface Mailer {
  /** Where mail goes, as a sentence for the person who starts the service. */
  readonly destination: string;
  /** Returns what the server answered. */
  send(message: Message): Promise<string>;
}

/** Sends through an SMTP server; returns when the server has taken the message. */
export function smtpMailer(url: Secret, from: string): Mailer {
  // Loaded with the first mail: the library costs the start more than all of our own code.
  const transport = once(async () => {
    const { createTransport } = await import('nodemailer');
    const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };
    return createTransport({ url: url.reveal(), ...timeouts }, { from });
  });
  const { hostname } = new URL(url.reveal());
  return {
    destination: `Mail goes through the SMTP server ${hostname}.`,
    send: async (message) => {
      const { response } = await (await transport()).sendMail(withHeaders(message));
      return response;
    },
  };
}

/** Writes each message as a file and prints its text: enough to try everything without a mail server. */
export function outboxMailer(folder: string, from: string, print: (text: string) => void): Mailer {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const composer = once(async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({ streamTransport: true, buffer: true, newline: 'unix' }, { from });
  });
  return {
    destination: `Mail is written to ${folder} and printed here.`,
    send: async (message) => {
      const { message: bytes } = await (await composer()).sendMail(withHeaders(message));
      if (!Buffer.isBuffer(bytes)) throw new TypeError('the composer gave no bytes');
      const stamp = new Date().toISOString().replaceAll(':', '-');
      writeFileAtomic(join(folder, `${stamp}-${randomBytes(3).toString('hex')}.eml`), bytes, 0o600);
      print(`\n--- mail to ${message.to}: ${message.subject}\n${message.text}---\n`);
      return 'Written to the outbox folder of the service.';
    },
  };
}

function withHeaders({ unsubscribe, ...message }: Message) {
  if (unsubscribe === undefined) return message;
  const headers = {
    'List-Unsubscribe': `<${unsubscribe}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
  return { ...message, headers };
}
