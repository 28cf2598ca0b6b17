/** What each command of the README promises, in the order of the README. */
import assert from 'node:assert/strict';
import { errorCode } from '../../src/fault.ts';
import type { TestLab, TestServer } from './lab.ts';
import { visitTls } from './proxy-tls.ts';
import { type Answers, filled, type Shell, type Started } from './readme.ts';
import { until } from './until.ts';

export interface ReadmeWorld {
  readonly service: Started;
  /** Where there is one to deploy to. */
  readonly place?: {
    readonly lab: TestLab;
    readonly server: TestServer;
    readonly address: string;
    readonly zone: string;
    readonly ca: string;
    /** What the page of the repository says. */
    readonly page: RegExp;
  };
}

/** What this reader puts into the next commands, learnt from the ones before. */
type Own = Record<string, string>;

export interface Step {
  readonly begins: string;
  /** At a terminal: what it asks there, and what this reader answers. */
  readonly answers?: (own: Own) => Answers;
  readonly isSo?: (
    printed: string,
    own: Own,
    world: ReadmeWorld,
    again: () => Promise<string>,
  ) => void | Promise<void>;
}

export async function follow(
  shell: Shell,
  commands: readonly string[],
  steps: readonly Step[],
  own: Own,
  world: ReadmeWorld,
): Promise<void> {
  assert.equal(commands.length, steps.length);
  for (const [at, { begins, answers, isSo }] of steps.entries()) {
    const command = commands[at] ?? '';
    assert.ok(command.startsWith(begins), `«${command}» is not «${begins}»`);
    const run = () =>
      answers ? shell.converse(filled(command, own), answers(own)) : shell.run(filled(command, own));
    await isSo?.(await run(), own, world, run);
  }
}

function placeOf({ place }: ReadmeWorld) {
  assert.ok(place, 'this needs a server');
  return place;
}

const emailOf = (own: Own) => `ada@${own['example.com']}`;

/** That of the README. */
const password = 'correct horse battery';

const nothing = (printed: string) => assert.equal(printed, '');

export const accountSteps: readonly Step[] = [
  { begins: 'api=', isSo: nothing },
  { begins: 'json=', isSo: nothing },
  { begins: 'account=', isSo: nothing },
  {
    begins: 'curl -s $api/auth/register ',
    isSo: async (printed, own, { service }) => {
      assert.equal(JSON.parse(printed).otpRequired, true);
      const find = () => /--- mail to [^\n]+\n[\s\S]*?\b(\d{6})\b[\s\S]*?---\n/.exec(service.said())?.[1];
      own['THE SIX DIGITS FROM THE MAIL'] = await until(find, 'the mail that is printed');
    },
  },
  {
    begins: 'curl -s $api/auth/verify-otp ',
    isSo: (printed) => assert.equal(typeof JSON.parse(printed).accessToken, 'string'),
  },
  { begins: 'me="authorization: Bearer $(curl -s $api/auth/login ', isSo: nothing },
  { begins: 'token=$(curl -s $api/api-tokens ', isSo: nothing },
  { begins: 'auth="authorization: Bearer $token"', isSo: nothing },
  {
    begins: 'curl -s $api/auth/me ',
    isSo: (printed, own) => assert.equal(JSON.parse(printed).email, emailOf(own)),
  },
];

/** What the page of the dashboard does, where this reader is signed in. */
async function allow(own: Own, screen: string): Promise<void> {
  const [, userCode] = /type this code: +(\S+)$/m.exec(screen) ?? assert.fail(screen);
  const send = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const answer = await fetch(`${own['http://127.0.0.1:4400']}/api/v1/auth/${path}`, {
      ...request,
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return answer.text();
  };
  const { accessToken } = JSON.parse(await send('login', { email: emailOf(own), password }));
  await send('device-codes/answer', { userCode, allow: true }, { authorization: `Bearer ${accessToken}` });
}

const noQuestions = (): Answers => [];

export const promptSteps: readonly Step[] = [
  {
    begins: 'npx slipway login ',
    answers: (own) => [['Waiting for you to allow it.', (screen) => allow(own, screen)]],
    isSo: (printed, own) => assert.ok(printed.endsWith(` as ${emailOf(own)}.`), printed),
  },
  {
    begins: 'npx slipway servers add ',
    answers: noQuestions,
    isSo: async (printed, _own, world) => {
      const [line] = /^ssh-ed25519 \S+ \S+$/m.exec(printed) ?? assert.fail(printed);
      await placeOf(world).server.ssh('cat >> /root/.ssh/authorized_keys', `${line}\n`);
    },
  },
  {
    begins: 'npx slipway servers provision ',
    answers: noQuestions,
    isSo: (printed) => assert.match(printed, /is ready for deployments\.$/),
  },
  {
    begins: 'npx slipway init ',
    answers: noQuestions,
    isSo: (printed) => assert.match(printed, /Deploy it: slipway deploy$/),
  },
  {
    begins: 'npx slipway deploy ',
    answers: noQuestions,
    isSo: async (printed, _own, world) => {
      const url = printed.split('\n').at(-1) ?? '';
      assert.ok(url.startsWith(`http://${placeOf(world).address}:21`), printed);
      assert.match(await (await fetch(url)).text(), placeOf(world).page);
    },
  },
];

export const deploymentSteps: readonly Step[] = [
  { begins: 'server=$(curl -s $api/servers ', isSo: nothing },
  { begins: 'while s=$(curl -sf $api/servers/$server ', isSo: nothing },
  {
    begins: 'curl -s $api/servers/$server ',
    isSo: (printed) => assert.equal(printed.trim(), '"ready"\nnull'),
  },
  { begins: 'project=$(curl -s $api/projects ', isSo: nothing },
  {
    begins: 'curl -sN $api/projects/$project/analysis-status ',
    isSo: (printed) => assert.match(printed, /^event: end\ndata: .*"status":"succeeded"/m),
  },
  { begins: 'made=$(curl -s $api/projects/$project/finalize ', isSo: nothing },
  { begins: 'env=$(', isSo: nothing },
  {
    begins: 'curl -sN $api/environments/$env/deployments/$did/status ',
    isSo: (printed) => {
      assert.match(printed, /^data: .*"line":".+","step":"build"}$/m, 'every line of the build');
      assert.match(printed, /^event: end\ndata: .*"status":"succeeded"/m, 'until it is live');
    },
  },
  {
    begins: 'curl -s  $api/environments/$env ',
    isSo: async (printed, _own, world) => {
      const url = printed.trim();
      assert.match(url, new RegExp(`^http://${placeOf(world).address.replaceAll('.', '\\.')}:21\\d{3}$`));
      assert.match(await (await fetch(url)).text(), placeOf(world).page);
    },
  },
];

function whileSelfSigned(error: unknown): undefined {
  if (errorCode(error) !== 'DEPTH_ZERO_SELF_SIGNED_CERT') throw error;
}

export const domainSteps: readonly Step[] = [
  { begins: 'domain=$(curl -s $api/domains ', isSo: nothing },
  {
    begins: 'echo "$domain" | jq .verification ',
    isSo: async (printed, _own, world) => {
      const { lab, zone, address } = placeOf(world);
      const { type, name, value } = JSON.parse(printed);
      assert.equal(type, 'TXT');
      const set = (record: object) => lab.client.call('PUT', '/dns', record);
      await set({ name, type, values: [value] });
      for (const each of [zone, `shop.${zone}`]) await set({ name: each, type: 'A', values: [address] });
    },
  },
  { begins: 'id=$(echo "$domain" ', isSo: nothing },
  {
    begins: 'curl -s -X POST $api/domains/$id/verify ',
    isSo: (printed) => assert.match(printed, /^"verified"\n/),
  },
  {
    begins: 'curl -s $api/environments/$env/domain ',
    isSo: (printed, _own, world) => assert.equal(JSON.parse(printed).hostname, `shop.${placeOf(world).zone}`),
  },
  {
    begins: 'curl -s $api/environments/$env/domains ',
    isSo: async (printed, _own, world, again) => {
      const { zone, ca, address, page } = placeOf(world);
      let last = JSON.parse(printed);
      const isIssued = async () => {
        if (last.certificate.status === 'issued') return true;
        last = JSON.parse(await again());
        return undefined;
      };
      await until(isIssued, 'the certificate');
      assert.equal(last.url, `https://shop.${zone}`);
      // Issued comes first, then it is installed.
      const visit = () => visitTls({ host: `shop.${zone}`, address, ca }).catch(whileSelfSigned);
      const shown = await until(visit, 'the certificate on the server');
      assert.equal(shown.status, 200);
      assert.match(shown.text, page);
    },
  },
];
