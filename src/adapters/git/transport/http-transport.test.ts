import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { Fault } from '../../../fault.ts';
import { Secret } from '../../../secret.ts';
import { parseGitUrl } from '../git-url.ts';
import { answerCredentials, checkLogin } from './http-transport.ts';

const login = { username: 'ada', password: new Secret('hunter2') };

async function ask(url: string, question: string): Promise<string> {
  const [ours, gits] = duplexPair();
  answerCredentials(ours, parseGitUrl(url), login);
  gits.setEncoding('utf8');
  gits.write(question);
  const [answer] = await once(gits, 'data');
  ours.destroy();
  gits.destroy();
  return String(answer);
}

test('the password is given for the one host and transport it is for', async () => {
  const given = 'username=ada\npassword=hunter2\n\n';
  assert.equal(await ask('https://git.example/a', 'protocol=https\nhost=git.example\n\n'), given);
  assert.equal(
    await ask('https://git.example:444/a', 'protocol=https\nhost=git.example:444\nwwwauth[]=x\n\n'),
    given,
  );
  assert.equal(await ask('https://[::1]:444/a', 'protocol=https\nhost=[::1]:444\n\n'), given);
});

test('any other question is answered with a refusal', async () => {
  const questions = [
    'protocol=https\nhost=git.example.org\n\n',
    'protocol=https\nhost=git.example:8443\n\n',
    'protocol=http\nhost=git.example\n\n',
    'protocol=https\n\n',
    'protocol=https\nhost=evil\npath=host=git.example\n\n',
  ];
  for (const question of questions)
    assert.equal(await ask('https://git.example/a', question), 'quit=1\n\n', question);
});

test('a line break in a user name or a token cannot say more than that', () => {
  checkLogin(login);
  for (const bad of ['a\nhost=x', 'a\r', 'a\0'])
    assert.throws(() => checkLogin({ username: 'u', password: new Secret(bad) }), Fault);
  assert.throws(() => checkLogin({ username: 'u\npassword=x', password: login.password }), Fault);
});
