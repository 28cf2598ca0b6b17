/** A mail server with its control routes for tests, and two ways to send to it. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import Fastify from 'fastify';
import { createTransport } from 'nodemailer';
import { type LabMail, startMail } from './mail.ts';
import { mailRoutes } from './mail-routes.ts';

export interface TestContext {
  after(work: () => Promise<void> | void): void;
}

export async function startTestMail(t: TestContext): Promise<LabMail> {
  const mail = await startMail({ address: '127.0.0.1', port: 0 });
  t.after(() => mail.close());
  return mail;
}

export function senderTo(
  t: TestContext,
  mail: LabMail,
  auth?: { user: string; pass: string; method?: string },
) {
  const { method, ...login } = auth ?? {};
  const transport = createTransport({
    host: '127.0.0.1',
    port: mail.port,
    ...(auth ? { auth: { user: '', pass: '', ...login } } : {}),
    ...(method === undefined ? {} : { authMethod: method }),
  });
  t.after(() => transport.close());
  const from = 'Lab <lab@lab.test>';
  return (to: string | string[], subject: string, more: object = {}) =>
    transport.sendMail({ from, to, subject, text: 'hello\n', ...more });
}

export async function startControl(t: TestContext, mail: LabMail) {
  const app = Fastify();
  t.after(() => app.close());
  mailRoutes(app, mail);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const call = async (method: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const sent =
      body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, ...sent, ...(signal ? { signal } : {}) });
    const text = await response.text();
    return { status: response.status, body: Object(text === '' ? {} : JSON.parse(text)) };
  };
  return { app, call };
}

/** Speaks SMTP by hand: sends each line once the one before was answered, and gives the last lines of the answers. */
export async function speak(socket: Socket, ...lines: string[]): Promise<string[]> {
  const said: string[] = [];
  let text = '';
  const signal = AbortSignal.timeout(5000);
  for (const line of [undefined, ...lines]) {
    if (line !== undefined) socket.write(`${line}\r\n`);
    while (!/^\d{3} .*\r\n$/m.test(text)) text += String(await once(socket, 'data', { signal }));
    said.push(text.trim());
    text = '';
  }
  return said;
}
