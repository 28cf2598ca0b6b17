/** Reads the outbox folder as a person reads their mail. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { until } from './until.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
}

export class Mailbox {
  readonly #folder: string;
  readonly #read = new Set<string>();
  readonly #parsed = new Map<string, Promise<Mail>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The next mail to this address that was not read yet. */
  async next(to: string): Promise<Mail> {
    const [file, mail] = await until(
      async () => (await this.#unread()).find(([, each]) => each.to === to),
      `a mail to ${to}`,
    );
    this.#read.add(file);
    return mail;
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

  /** The token of the next mail to this address that asks for consent. */
  async consentToken(to: string): Promise<string> {
    const mail = await this.next(to);
    return found(/#token=(consent_[\w-]+)/.exec(mail.text)?.[1], 'link', mail);
  }

  /** The token of the next invitation to this address. */
  async invitationToken(to: string): Promise<string> {
    const mail = await this.next(to);
    return found(/#token=(invitation_[\w-]+)/.exec(mail.text)?.[1], 'link', mail);
  }

  async #unread(): Promise<[string, Mail][]> {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.eml') && !this.#read.has(name));
    return Promise.all(
      names.sort().map(async (name): Promise<[string, Mail]> => [name, await this.#parse(name)]),
    );
  }

  #parse(name: string): Promise<Mail> {
    const parsing = this.#parsed.get(name) ?? parse(join(this.#folder, name));
    this.#parsed.set(name, parsing);
    return parsing;
  }
}

async function parse(file: string): Promise<Mail> {
  const mail = await PostalMime.parse(readFileSync(file));
  return {
    to: mail.to?.[0]?.address ?? '',
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
  };
}

function found(value: string | undefined, what: string, mail: Mail): string {
  if (value === undefined) throw new Error(`no ${what} in the mail «${mail.subject}»`);
  return value;
}
