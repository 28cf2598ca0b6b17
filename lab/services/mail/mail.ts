/**
 * The lab's mail server. Takes whatever is sent to it over SMTP, for any recipient and from any user, and keeps it to
 * be read; delivers nothing and requires no sign-in. It refuses what it was told to refuse, and messages over 10 MiB.
 * It does not offer STARTTLS: the only certificate that needs no file is the library's, which has expired, and a
 * client that is offered TLS uses it and fails.
 */
import { once } from 'node:events';
import { isIP, type Server, type Socket } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { zone } from '../../places.ts';
import { Inbox } from '../control/inbox.ts';
import { InputError } from '../control/input.ts';
import { type LabMessage, readMessage, type SignIn } from './message.ts';

export interface MailReply {
  readonly code: number;
  readonly message: string;
}

export interface LabMail {
  readonly address: string;
  readonly port: number;
  /** Of one recipient, or all; the oldest first. */
  messages(to?: string): LabMessage[];
  message(id: string): LabMessage | undefined;
  /** The oldest unread message, or the next to come; undefined when none came in time. */
  next(to: string | undefined, timeoutMs: number, stop?: AbortSignal): Promise<LabMessage | undefined>;
  clear(): void;
  /** What the recipient is answered with from now on; undefined takes mail again. */
  fail(recipient: string, reply: MailReply | undefined): void;
  faults(): { recipient: string; reply: MailReply }[];
  /** Sessions that broke off, the latest last: a sentence each. */
  problems(): string[];
  close(): Promise<void>;
}

const largestMessage = 10 * 1024 * 1024;
const mostProblems = 100;

export async function startMail(options: { address: string; port: number }): Promise<LabMail> {
  const { address } = options;
  if (isIP(address) === 0)
    throw new InputError(`"${address}" is no address to listen on: 127.0.0.1 would be one.`);
  const inbox = new Inbox<LabMessage>(({ envelope }) => envelope.to.map(mailbox));
  const faults = new Map<string, MailReply>();
  const signIns = new WeakMap<SMTPServerSession, SignIn>();
  let problems: string[] = [];
  let count = 0;

  const keep = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const { mailFrom, rcptTo } = session.envelope;
    const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo.map((each) => each.address) };
    const bytes = await bytesOf(stream);
    const read = await readMessage(bytes);
    const signIn = signIns.get(session) ?? null;
    inbox.put({ id: String(++count), receivedAt: new Date().toISOString(), envelope, signIn, ...read });
  };
  const server = new SMTPServer({
    name: `mail.${zone}`,
    size: largestMessage,
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN'],
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onAuth: ({ method, username, password }, session, done) => {
      const user = username ?? '';
      signIns.set(session, { method, user, password: password ?? '' });
      done(null, { user });
    },
    onRcptTo: ({ address: recipient }, _session, done) => {
      const reply = faults.get(mailbox(recipient));
      done(reply ? refusal(reply) : null);
    },
    onData: (stream, session, done) => {
      // The client is told 250 once the message can be read, so that a test may look at once.
      keep(stream, session).then(() => done(null, 'Kept'), done);
    },
  });
  server.on('error', (error) => {
    problems = [...problems.slice(1 - mostProblems), `${new Date().toISOString()}: ${error.message}`];
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(options.port, address);
  await once(server.server, 'listening');

  let closing: Promise<void> | undefined;
  const close = async () => {
    inbox.close();
    const closed = new Promise<void>((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    address,
    port: portOf(server.server),
    messages: (to) => inbox.list(wanted(to)),
    message: (id) => inbox.list().find((message) => message.id === id),
    next: async (to, timeoutMs, stop) => inbox.next(wanted(to), timeoutMs, stop),
    clear: () => inbox.clear(),
    fail: (recipient, reply) => {
      const key = checkedMailbox(recipient);
      if (reply === undefined) faults.delete(key);
      else faults.set(key, checkedReply(reply));
    },
    faults: () => [...faults].map(([recipient, reply]) => ({ recipient, reply })),
    problems: () => problems,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** Servers may tell Ada from ada, but hardly one does, and a test that trips over it learns nothing. */
function mailbox(address: string): string {
  return address.toLowerCase();
}

function wanted(to: string | undefined): string | undefined {
  return to === undefined ? undefined : checkedMailbox(to);
}

/** For whoever asks the lab; a client of the server may also write to `postmaster`. */
function checkedMailbox(address: string): string {
  if (/^[^@\s]+@[^@\s]+$/.test(address)) return mailbox(address);
  throw new InputError(`"${address}" is no mail address: ada@lab.test would be one.`);
}

/** What is over the limit is read and dropped: the library refuses it once the client has sent it all. */
async function bytesOf(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk);
  if (stream.sizeExceeded) throw refusal({ code: 552, message: `Larger than ${largestMessage} bytes` });
  return Buffer.concat(chunks);
}

function checkedReply({ code, message }: MailReply): MailReply {
  if (!Number.isInteger(code) || code < 400 || code > 599)
    throw new InputError(`A reply with code ${code} refuses nothing: 451 (try again) or 550 (no) would.`);
  if (!/^[\x20-\x7e]+$/.test(message))
    throw new InputError('The message of a reply is one line of plain ASCII, such as "No such mailbox".');
  return { code, message };
}

function refusal({ code, message }: MailReply): Error {
  return Object.assign(new Error(message), { responseCode: code });
}

function portOf(server: Server): number {
  const bound = server.address();
  if (typeof bound === 'object' && bound !== null) return bound.port;
  throw new Error('The mail server has no port, though it listens.');
}
