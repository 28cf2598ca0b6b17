/** Reads the outbox folder as a person reads their mail. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import PostalMime from 'postal-mime';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export class Mailbox {
  readonly #folder: string;
  readonly #read = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The next mail to this address that was not read yet. */
  async next(to: string, withinMs = 10_000): Promise<Mail> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      for (const [file, mail] of await this.#unread()) {
        if (mail.to !== to) continue;
        this.#read.add(file);
        return mail;
      }
      if (Date.now() > deadline) throw new Error(`no mail to ${to} within ${withinMs} ms`);
      await sleep(10);
    }
  }

  async unreadCount(to?: string): Promise<number> {
    return (await this.#unread()).filter(([, mail]) => to === undefined || mail.to === to).length;
  }

  /** The six digits of the next code to this address. */
  async code(to: string): Promise<string> {
    const mail = await this.next(to);
    return found(/\b(\d{6})\b/.exec(mail.text)?.[1], 'code', mail);
  }

  /** The token of the next reset link to this address. */
  async resetToken(to: string): Promise<string> {
    const mail = await this.next(to);
    return found(/#token=(reset_[\w-]+)/.exec(mail.text)?.[1], 'link', mail);
  }

  async #unread(): Promise<[string, Mail][]> {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.eml') && !this.#read.has(name));
    return Promise.all(
      names.sort().map(async (name) => [name, await parse(join(this.#folder, name))] as [string, Mail]),
    );
  }
}

async function parse(file: string): Promise<Mail> {
  const mail = await PostalMime.parse(readFileSync(file));
  return {
    to: mail.to?.[0]?.address ?? '',
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
  };
}

function found(value: string | undefined, what: string, mail: Mail): string {
  if (value === undefined) throw new Error(`no ${what} in the mail «${mail.subject}»`);
  return value;
}
