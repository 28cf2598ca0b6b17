import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { senderTo, speak, startControl, startTestMail } from './test-mail.ts';

test('a mail is kept whole: envelope, subject, both texts, headers and the bytes', async (t) => {
  const mail = await startTestMail(t);
  const before = Date.now();
  await senderTo(t, mail)(['Ada@lab.test', 'bob@lab.test'], 'Grüße', {
    bcc: 'secret@lab.test',
    html: '<p>für alle</p>',
    headers: { 'X-Lab-Mark': 'one' },
  });
  const [message, ...others] = mail.messages();
  assert.ok(message && others.length === 0, 'it is there once the client has its answer');
  assert.deepEqual(message.envelope, {
    from: 'lab@lab.test',
    to: ['Ada@lab.test', 'bob@lab.test', 'secret@lab.test'],
  });
  assert.equal(message.subject, 'Grüße');
  assert.equal(message.text?.trim(), 'hello');
  assert.match(message.html ?? '', /<p>für alle<\/p>/);
  assert.equal(message.signIn, null);
  assert.ok(message.headers.some(({ name, value }) => name === 'X-Lab-Mark' && value === 'one'));
  assert.match(message.raw, /^X-Lab-Mark: one\r$/m);
  assert.ok(Date.parse(message.receivedAt) >= before);
  assert.equal(mail.message(message.id), message);
  assert.equal(mail.message('999'), undefined);
  assert.deepEqual([mail.messages('ada@LAB.test').length, mail.messages('eve@lab.test').length], [1, 0]);
});

test('any user may sign in, nobody has to, and who it was is written down', async (t) => {
  const mail = await startTestMail(t);
  await senderTo(t, mail, { user: 'ops', pass: 'hunter2', method: 'PLAIN' })('a@lab.test', 'plain');
  await senderTo(t, mail, { user: 'dev', pass: 'pässword', method: 'LOGIN' })('a@lab.test', 'login');
  await senderTo(t, mail)('a@lab.test', 'nobody');
  assert.deepEqual(
    mail.messages().map(({ signIn }) => signIn),
    [
      { method: 'PLAIN', user: 'ops', password: 'hunter2' },
      { method: 'LOGIN', user: 'dev', password: 'pässword' },
      null,
    ],
  );
});

test('TLS is not offered, because a client that is offered it would fail at the certificate', async (t) => {
  const mail = await startTestMail(t);
  const socket = connect(mail.port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
  });
  const [greeting = '', hello = '', tls = ''] = await speak(socket, 'EHLO client.lab.test', 'STARTTLS');
  assert.match(greeting, /^220 mail\.lab\.test ESMTP/);
  assert.match(hello, /AUTH PLAIN LOGIN|AUTH LOGIN PLAIN/);
  assert.doesNotMatch(hello, /STARTTLS/);
  assert.match(tls, /^5\d\d /);
});

test('a recipient is refused as told, the others are not, and it ends when taken back', async (t) => {
  const mail = await startTestMail(t);
  const { call } = await startControl(t, mail);
  const send = senderTo(t, mail);
  const fault = { recipient: 'ada@lab.test', reply: { code: 550, message: 'No such mailbox' } };
  assert.deepEqual(await call('PUT', '/mail/faults', { ...fault, recipient: 'ADA@lab.test' }), {
    status: 200,
    body: { faults: [fault] },
  });
  await assert.rejects(send('Ada@lab.test', 'x'), { responseCode: 550, message: /No such mailbox/ });
  mail.fail('ada@lab.test', { code: 451, message: 'Try later' });
  await assert.rejects(send('ada@lab.test', 'x'), { responseCode: 451, message: /Try later/ });
  const { accepted, rejected } = await send(['ada@lab.test', 'bob@lab.test'], 'both');
  assert.deepEqual([accepted, rejected], [['bob@lab.test'], ['ada@lab.test']]);
  assert.deepEqual(
    mail.messages().map(({ envelope }) => envelope.to),
    [['bob@lab.test']],
  );
  assert.deepEqual((await call('PUT', '/mail/faults', { ...fault, reply: null })).body, { faults: [] });
  await send('ada@lab.test', 'again');
  assert.equal(mail.messages('ada@lab.test').length, 1);
});

test('a message over 10 MiB is refused, announced or not, and nothing of it is kept', async (t) => {
  const mail = await startTestMail(t);
  const send = senderTo(t, mail);
  const text = `${'x'.repeat(998)}\r\n`.repeat(11 * 1024);
  await assert.rejects(send('a@lab.test', 'big', { text }), { responseCode: 552 });
  const socket = connect(mail.port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
  });
  const start = ['HELO c', 'MAIL FROM:<a@lab.test>', 'RCPT TO:<b@lab.test>', 'DATA'];
  const answers = await speak(socket, ...start, `${text}.`, 'NOOP');
  assert.match(answers.at(-2) ?? '', /^552 /);
  assert.match(answers.at(-1) ?? '', /^250 /, 'the session lives on');
  assert.deepEqual(mail.messages(), []);
});

test('a client that breaks off within its message leaves the server as it was', async (t) => {
  const mail = await startTestMail(t);
  const socket = connect(mail.port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
  });
  await speak(socket, 'HELO c', 'MAIL FROM:<>', 'RCPT TO:<postmaster>', 'DATA');
  socket.write('Subject: half\r\n');
  socket.resetAndDestroy();
  await senderTo(t, mail)('a@lab.test', 'whole');
  assert.deepEqual(
    mail.messages().map(({ subject }) => subject),
    ['whole'],
  );
});

test('a mailbox without a domain and an empty sender are taken, as SMTP asks', async (t) => {
  const mail = await startTestMail(t);
  const socket = connect(mail.port, '127.0.0.1');
  t.after(() => {
    socket.destroy();
  });
  const start = ['HELO c', 'MAIL FROM:<>', 'RCPT TO:<postmaster>', 'DATA'];
  const answers = await speak(socket, ...start, 'Subject: bounce\r\n\r\nbody\r\n.');
  assert.match(answers.at(-1) ?? '', /^250 /);
  assert.deepEqual(mail.messages()[0]?.envelope, { from: '', to: ['postmaster'] });
});
