/** Messages for tests: an ordinary one, hostile ones, and any number of random ones from a seed. */
import type { Message } from '../../src/adapters/connectors/connector.ts';

export const ordinary: Message = {
  id: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b',
  event: 'deployment_failed',
  tone: 'bad',
  title: 'shop / production: deployment #12 failed',
  summary: 'The image could not be built. Look at the last lines.',
  facts: [
    { name: 'Project', value: 'shop' },
    { name: 'Commit', value: '0123456789ab Fix the cart (Ada)' },
    { name: 'Duration', value: '1 min 12 s' },
  ],
  lines: ['npm error code ELIFECYCLE', 'npm error exit 1'],
  link: 'https://slipway.example.com/api/v1/environments/1/deployments/2',
  at: new Date('2026-11-15T09:30:00.000Z'),
  items: [],
  payload: { id: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b', type: 'deployment_failed' },
};

export const hostileTexts: readonly string[] = [
  '<!channel> <!everyone> <@U012345> <https://evil.example|click>',
  '@everyone @here <@1234567890123456> <@&1234567890123456> <#1234567890123456>',
  '**bold** __under__ ~~gone~~ ||spoiler|| `code` [text](https://evil.example) > quote',
  '```\nescaped?\n``` and ```` four',
  '<b>bold</b> <script>alert(1)</script> <a href="https://evil.example">x</a> &lt; &amp;',
  '</pre></code></b> & < > " \' \\',
  '<at>Ada</at> @channel /start #tag',
  '# heading\n- list\n1. one\n-# small',
  'tick\u0060\u0060\u0060tick',
  '𝒳😀👨‍👩‍👧‍👦 ünïcödé 漢字',
];

/** The same seed gives the same messages. */
export function randomMessages(seed: number, count: number): Message[] {
  let state = seed;
  const below = (most: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % most;
  };
  const signs = [...'aZ09 \n<>&"\'`*_~|[]()#@:!\\/-+.{}', '😀', '漢', 'é', '\u0301', '\ud834\udd1e'];
  const any = (most: number) => {
    const special = below(4) === 0 ? (hostileTexts[below(hostileTexts.length)] ?? '') : '';
    return special + Array.from({ length: below(most) }, () => signs[below(signs.length)]).join('');
  };
  const some = <T>(most: number, make: () => T) => Array.from({ length: below(most) }, make);
  return Array.from({ length: count }, () => ({
    ...ordinary,
    title: any(600).replaceAll('\n', ' ') || 'x',
    summary: below(3) === 0 ? null : any(9_000) || null,
    facts: some(40, () => ({ name: any(80).replaceAll('\n', ' ') || 'n', value: any(2_500) || 'v' })),
    lines: some(200, () => any(400).replaceAll('\n', ' ')),
    items: some(60, () => any(300).replaceAll('\n', ' ')),
    link: below(4) === 0 ? null : ordinary.link,
  }));
}
