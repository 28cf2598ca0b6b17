import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { hangMs } from '../../../test/support/until.ts';
import { startMail } from './mail.ts';
import { senderTo, speak, startControl, startTestMail } from './test-mail.ts';

test('mail is listed, read, waited for and cleared over HTTP', async (t) => {
  const mail = await startTestMail(t);
  const { call } = await startControl(t, mail);
  const send = senderTo(t, mail);
  const [first, second] = [
    call('GET', '/mail/next?to=ada@lab.test'),
    call('GET', '/mail/next?to=Ada@lab.test'),
  ];
  await send('bob@lab.test', 'other');
  await send('ada@lab.test', 'one');
  await send('ada@lab.test', 'two');
  const both = await Promise.all([first, second]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual(both.map(({ body }) => body.subject).sort(), ['one', 'two']);
  assert.equal((await call('GET', '/mail/next?timeoutMs=0')).body.subject, 'other');
  const late = await call('GET', '/mail/next?to=ada@lab.test&timeoutMs=20');
  assert.deepEqual(late, { status: 408, body: { error: 'No mail to ada@lab.test came within 20 ms.' } });
  const list = await call('GET', '/mail?to=ada@lab.test');
  assert.deepEqual(list.body, { messages: mail.messages('ada@lab.test'), faults: [], problems: [] });
  assert.equal((await call('GET', '/mail')).body.messages.length, 3);
  assert.deepEqual((await call('GET', '/mail/2')).body, mail.message('2'));
  assert.deepEqual(await call('GET', '/mail/77'), {
    status: 404,
    body: { error: 'There is no mail 77; GET /mail lists those there are.' },
  });
  assert.equal((await call('DELETE', '/mail')).status, 204);
  assert.deepEqual(mail.messages(), []);
});

test('whoever waits and leaves takes no mail from the next who waits', async (t) => {
  const mail = await startTestMail(t);
  const { app, call } = await startControl(t, mail);
  const left = new Promise<void>((resolve) => {
    app.server.once('request', (_request, response) => response.once('close', resolve));
  });
  const arrived = once(app.server, 'request');
  const leaving = new AbortController();
  const lost = call('GET', '/mail/next?to=ada@lab.test', undefined, leaving.signal);
  const refused = assert.rejects(lost);
  await arrived;
  leaving.abort();
  await Promise.all([refused, left]);
  const waiting = call('GET', '/mail/next?to=ada@lab.test');
  await senderTo(t, mail)('ada@lab.test', 'for the second');
  assert.equal((await waiting).body.subject, 'for the second');
});

test('what is wrong is answered 400 with a sentence', async (t) => {
  const mail = await startTestMail(t);
  const { call } = await startControl(t, mail);
  const recipient = 'ada@lab.test';
  const wrong = [
    ['GET', '/mail?to=ada', undefined, /"ada" is no mail address: ada@lab\.test/],
    ['GET', '/mail?for=x', undefined, /additional properties \(for\)/],
    ['GET', '/mail/next?to=ada', undefined, /is no mail address/],
    ['GET', '/mail/next?timeoutMs=soon', undefined, /"soon" is no timeoutMs.*5000/],
    ['GET', '/mail/next?timeoutMs=300001', undefined, /from 0 to 300000/],
    ['PUT', '/mail/faults', { recipient, reply: { code: 250, message: 'x' } }, /refuses nothing: 451/],
    ['PUT', '/mail/faults', { recipient, reply: { code: 550, message: 'a\r\n250 b' } }, /one line/],
    ['PUT', '/mail/faults', { recipient, reply: 'no' }, /for example: \{"recipient"/],
    ['PUT', '/mail/faults', { recipient: 'ada', reply: null }, /is no mail address/],
  ] as const;
  for (const [method, path, body, error] of wrong) {
    const answer = await call(method, path, body);
    assert.equal(answer.status, 400, `${method} ${path}`);
    assert.match(answer.body.error, error);
  }
  await assert.rejects(startMail({ address: 'mail', port: 0 }), /"mail" is no address/);
  await assert.rejects(startMail({ address: '127.0.0.1', port: mail.port }), { code: 'EADDRINUSE' });
});

test('closing ends sessions and those who wait at once, whichever server goes first', {
  timeout: hangMs,
}, async (t) => {
  for (const first of ['mail', 'control']) {
    const mail = await startTestMail(t);
    const { app, call } = await startControl(t, mail);
    const socket = connect(mail.port, '127.0.0.1');
    t.after(() => {
      socket.destroy();
    });
    await speak(socket, 'HELO c', 'MAIL FROM:<a@lab.test>');
    const arrived = once(app.server, 'request');
    const waiting = call('GET', '/mail/next?timeoutMs=300000');
    await arrived;
    if (first === 'mail') {
      const ended = once(socket, 'close');
      socket.resume();
      await Promise.all([mail.close(), mail.close()]);
      await ended;
    } else await app.close();
    assert.equal((await waiting).status, 503, `${first} first`);
  }
});
