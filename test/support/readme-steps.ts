/** What each command of the README promises, in the order of the README. */
import assert from 'node:assert/strict';
import { errorCode } from '../../src/fault.ts';
import type { TestLab } from './lab.ts';
import { visitTls } from './proxy-tls.ts';
import { filled, type Shell, type Started } from './readme.ts';
import { until } from './until.ts';

export interface ReadmeWorld {
  readonly service: Started;
  /** Where there is one to deploy to. */
  readonly place?: {
    readonly lab: TestLab;
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
  for (const [at, { begins, isSo }] of steps.entries()) {
    const command = commands[at] ?? '';
    assert.ok(command.startsWith(begins), `«${command}» is not «${begins}»`);
    const run = () => shell.run(filled(command, own));
    await isSo?.(await run(), own, world, run);
  }
}

function placeOf({ place }: ReadmeWorld) {
  assert.ok(place, 'this needs a server');
  return place;
}

const nothing = (printed: string) => assert.equal(printed, '');

export const accountSteps: readonly Step[] = [
  { begins: 'api=', isSo: nothing },
  { begins: 'json=', isSo: nothing },
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
  {
    begins: 'curl -s $api/auth/login ',
    isSo: (printed, own) => {
      const { accessToken } = JSON.parse(printed);
      assert.equal(typeof accessToken, 'string');
      own['THE ACCESS TOKEN'] = accessToken;
    },
  },
  {
    begins: 'curl -s $api/auth/me ',
    isSo: (printed, own) => assert.equal(JSON.parse(printed).email, `ada@${own['example.com']}`),
  },
];

export const deploymentSteps: readonly Step[] = [
  { begins: 'token=$(curl -s $api/auth/login ', isSo: nothing },
  { begins: 'auth=', isSo: nothing },
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
