/** Whether Discord, Telegram or Teams would take a message: their schemas, and the rules that no schema can say. */
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { discordSchema, teamsSchema, telegramSchema } from './receivers-schemas.ts';

export type ReceiverName = 'discord' | 'telegram' | 'teams';

const mostEmbedSigns = 6000;
const mostTelegramSigns = 4096;
const mostTeamsBytes = 28 * 1024;

let validators: Record<ReceiverName, ValidateFunction> | undefined;

/** What is wrong with it, in words; undefined where it would be taken. */
export function wrongWith(name: ReceiverName, bytes: string): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(bytes);
  } catch {
    return 'the body is not JSON';
  }
  validators ??= compile();
  const validate = validators[name];
  if (!validate(body)) {
    const [first] = validate.errors ?? [];
    return `${first?.instancePath ?? ''} ${first?.message ?? ''} ${JSON.stringify(first?.params)}`;
  }
  return { discord: wrongEmbeds, telegram: wrongText, teams: wrongSize }[name](Object(body), bytes);
}

function compile(): Record<ReceiverName, ValidateFunction> {
  const ajv = new Ajv({ strict: false, allErrors: false });
  addFormats.default(ajv);
  return {
    discord: ajv.compile(discordSchema),
    telegram: ajv.compile(telegramSchema),
    teams: ajv.compile(teamsSchema),
  };
}

interface Embed {
  readonly title?: string;
  readonly description?: string;
  readonly footer?: { readonly text: string };
  readonly author?: { readonly name: string };
  readonly fields?: readonly { readonly name: string; readonly value: string }[];
}

function wrongEmbeds({ embeds = [] }: { embeds?: readonly Embed[] }): string | undefined {
  const texts = embeds.flatMap(({ title = '', description = '', footer, author, fields = [] }) => [
    ...[title, description, footer?.text ?? '', author?.name ?? ''],
    ...fields.flatMap(({ name, value }) => [name, value]),
  ]);
  const signs = texts.reduce((sum, each) => sum + each.length, 0);
  return signs > mostEmbedSigns ? `the embeds have ${signs} signs, ${mostEmbedSigns} are allowed` : undefined;
}

function wrongText(body: { text: string; parse_mode?: string }): string | undefined {
  if (body.parse_mode !== 'HTML') return undefined;
  const read = readTelegramHtml(body.text);
  if ('error' in read) return `can't parse entities: ${read.error}`;
  if (read.text.trim() === '') return 'message text is empty';
  return read.text.length > mostTelegramSigns ? 'message is too long' : undefined;
}

function wrongSize(_body: object, bytes: string): string | undefined {
  const size = Buffer.byteLength(bytes);
  return size > mostTeamsBytes ? `the message has ${size} bytes, ${mostTeamsBytes} are allowed` : undefined;
}

const telegramTags: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    ['b', 'strong', 'i', 'em', 'u', 'ins', 's', 'strike', 'del', 'tg-spoiler', 'pre'].map((tag) => [
      tag,
      /^$/,
    ]),
  ),
  code: /^(\s+class="language-[\w+-]+")?$/,
  span: /^\s+class="tg-spoiler"$/,
  a: /^\s+href="[^"<>]*"$/,
  blockquote: /^(\s+expandable)?$/,
};
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** The Bot API's HTML: few tags, closed in their order, four named entities, and no bare `<`, `>` or `&`. */
export function readTelegramHtml(html: string): { text: string } | { error: string } {
  const open: string[] = [];
  let text = '';
  for (let at = 0; at < html.length; ) {
    const sign = html[at] ?? '';
    if (sign === '<') {
      const found = /^<(\/?)([a-z-]+)([^<>]*)>/.exec(html.slice(at));
      const [whole, slash = '', name = '', rest = ''] = found ?? [];
      if (whole === undefined) return { error: `unescaped < at ${at}` };
      if (slash === '/') {
        if (open.pop() !== name || rest !== '') return { error: `unmatched end tag ${whole} at ${at}` };
      } else {
        const form = telegramTags[name];
        if (!form?.test(rest)) return { error: `unsupported start tag ${whole} at ${at}` };
        open.push(name);
      }
      at += whole.length;
    } else if (sign === '&') {
      const found = /^&(?:(lt|gt|amp|quot)|#(\d+)|#x([0-9a-f]+));/i.exec(html.slice(at));
      if (!found) return { error: `unescaped & at ${at}` };
      const code = found[2] ? Number(found[2]) : Number.parseInt(found[3] ?? '0', 16);
      text += found[1] ? entities[found[1].toLowerCase()] : String.fromCodePoint(code);
      at += found[0].length;
    } else if (sign === '>') return { error: `unescaped > at ${at}` };
    else {
      text += sign;
      at += 1;
    }
  }
  return open.length > 0 ? { error: `no end tag for ${open.join(', ')}` } : { text };
}
