/** Telegram, by a bot: a text in its HTML, with everything that others wrote escaped. */
import Type from 'typebox';
import { Secret } from '../../secret.ts';
import { defineConnector, type Message, type Tone } from './connector.ts';
import { type EscapeSign, escapeHtml, fit, fitLast } from './fit-text.ts';
import { postJson, type Refused } from './post-json.ts';
import { receiverUrl, wrongConfig } from './webhook-url.ts';

const signs: Record<Tone, string> = { good: '✅', bad: '❌', warning: '⚠️', neutral: 'ℹ️' };
/** A text has 4096 signs; with marks and names these stay below it in every case. */
const longest = {
  title: 250,
  summary: 600,
  code: 1_200,
  items: 1_800,
  name: 60,
  value: 120,
  facts: 8,
} as const;
const standardApi = 'https://api.telegram.org';

/** A name after an at sign would be called, also inside of a commit's message. Nothing is seen of the sign behind it. */
const escapeTelegram: EscapeSign = (sign) => (sign === '@' ? '@\u200b' : escapeHtml(sign));

export const telegram = defineConnector({
  type: 'telegram',
  Config: Type.Object(
    {
      botToken: Type.String({
        minLength: 1,
        maxLength: 200,
        description: 'As BotFather gives it.',
        examples: ['1234567890:AAExampleExampleExampleExampleExample'],
      }),
      chatId: Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'A number, or the name of a channel with its `@`.',
        examples: ['-1001234567890'],
      }),
      apiUrl: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'Of a Bot API server of one’s own.',
          examples: [standardApi],
        }),
      ),
    },
    { additionalProperties: false, title: 'TelegramConfig' },
  ),
  canTellRepeats: false,
  check: ({ botToken, chatId, apiUrl }, { allowPrivate }) => {
    if (!/^\d{3,20}:[\w-]{20,100}$/.test(botToken))
      throw wrongConfig('botToken', 'is not the token of a bot');
    if (!/^(-?\d{1,20}|@[A-Za-z]\w{3,31})$/.test(chatId))
      throw wrongConfig('chatId', 'is neither a number nor the name of a channel such as @deploys');
    const api = apiUrl === undefined ? {} : { apiUrl: receiverUrl(apiUrl, 'apiUrl', allowPrivate) };
    return { botToken, chatId, ...api };
  },
  target: ({ chatId, apiUrl }) => `chat ${chatId} at ${new URL(apiUrl ?? standardApi).host}`,
  secrets: ({ botToken }) => [new Secret(botToken)],
  send: ({ botToken, chatId, apiUrl }, message, transports, signal) => {
    const base = (apiUrl ?? standardApi).replace(/\/$/, '');
    const body = JSON.stringify({ chat_id: chatId, ...telegramBody(message) });
    return postJson(
      transports,
      { url: `${base}/bot${botToken}/sendMessage`, body, read: readTelegram },
      signal,
    );
  },
});

export function telegramBody({ title, summary, facts, lines, items, link, tone, at }: Message) {
  const write = (text: string, most: number) => fit(text, most, escapeTelegram);
  const named = facts
    .slice(0, longest.facts)
    .map(({ name, value }) => `<b>${write(name, longest.name)}:</b> ${write(value, longest.value)}`);
  const text = [
    `${signs[tone]} <b>${write(title, longest.title)}</b>`,
    ...(summary ? [write(summary, longest.summary)] : []),
    ...(items.length > 0 ? [write(items.map((item) => `• ${item}`).join('\n'), longest.items)] : []),
    ...named,
    ...(lines.length > 0 ? [`<pre>${fitLast(lines, longest.code, escapeHtml)}</pre>`] : []),
    ...(link ? [`<a href="${fit(link, 500, escapeHtml)}">Open</a>`] : []),
    `<i>Slipway · ${at.toISOString()}</i>`,
  ].join('\n');
  return { text, parse_mode: 'HTML', link_preview_options: { is_disabled: true } };
}

/** Its body says what the status leaves open. */
function readTelegram({ status, text }: { status: number; text: string }): Partial<Refused> | undefined {
  const seconds = Number(/"retry_after"\s*:\s*(\d+)/.exec(text)?.[1]);
  if (status === 429 && Number.isFinite(seconds)) return { retryAfterMs: seconds * 1000 };
  if (status < 300 && /"ok"\s*:\s*false/.test(text)) return { isFinal: true };
  return undefined;
}
