import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { Secret } from '../../secret.ts';
import { smtpMailer } from './mail.ts';

const message = { to: 'ada@example.com', subject: 'Grüße', text: 'plain\n', html: '<p>rich</p>' };

interface Inbox {
  readonly url: string;
  readonly mails: { from: string; to: string[]; bytes: Buffer }[];
}

async function startInbox(t: { after(work: () => Promise<void>): void }, refuse = false): Promise<Inbox> {
  const mails: Inbox['mails'] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'ops' && password === 'hunter2' ? done(null, { user: 'ops' }) : done(new Error('refused')),
    onRcptTo: (_address, _session, done) => done(refuse ? new Error('no such mailbox') : null),
    onData: (stream, { envelope }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), bytes: Buffer.concat(chunks) });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://ops:hunter2@127.0.0.1:${port}`, mails };
}

test('a mail reaches a real SMTP server whole, with sender, both texts and an odd subject', async (t) => {
  const inbox = await startInbox(t);
  await smtpMailer(new Secret(inbox.url), 'Slipway <slipway@example.com>').send(message);
  const [mail] = inbox.mails;
  assert.ok(mail, 'it has arrived when send returns');
  assert.deepEqual([mail.from, mail.to], ['slipway@example.com', ['ada@example.com']]);
  const parsed = await PostalMime.parse(mail.bytes);
  assert.equal(parsed.subject, message.subject);
  assert.equal(parsed.text?.trim(), 'plain');
  assert.match(parsed.html ?? '', /<p>rich<\/p>/);
});

test('a server that refuses, or is not there, fails the sending instead of losing the mail', async (t) => {
  const refusing = await startInbox(t, true);
  await assert.rejects(smtpMailer(new Secret(refusing.url), 'a@b.co').send(message), /no such mailbox/);
  const wrong = refusing.url.replace('hunter2', 'guess');
  await assert.rejects(smtpMailer(new Secret(wrong), 'a@b.co').send(message), /refused|Invalid login/i);
  await assert.rejects(smtpMailer(new Secret('smtp://127.0.0.1:1'), 'a@b.co').send(message), /ECONNREFUSED/);
});
