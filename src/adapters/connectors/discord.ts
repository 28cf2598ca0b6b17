/** Discord, by a webhook: one embed, with nobody mentioned whatever stands in it. */
import type { Message, Tone } from './connector.ts';
import { type EscapeSign, fit, fitLast } from './fit-text.ts';
import type { Refused } from './post-json.ts';
import { defineChatWebhook } from './webhook-url.ts';

const colours: Record<Tone, number> = { good: 0x2e7d32, bad: 0xc62828, warning: 0xef6c00, neutral: 0x546e7a };
/** Of all texts of an embed together 6000; these stay below it in every case. */
const longest = {
  title: 256,
  summary: 600,
  code: 1_400,
  items: 1_400,
  name: 60,
  value: 200,
  fields: 8,
} as const;

/** Discord drops a backslash before any sign that is neither letter, digit nor space. */
export const escapeDiscord: EscapeSign = (sign) => (/^[!-/:-@[-`{-~]$/.test(sign) ? `\\${sign}` : sign);
const escapeCode: EscapeSign = (sign) => (sign === '`' ? 'ˋ' : sign);

export const discord = defineChatWebhook({
  type: 'discord',
  title: 'DiscordConfig',
  description: 'Of a webhook of a channel.',
  example: 'https://discord.com/api/webhooks/1234567890/XXXX',
  called: 'a webhook of Discord',
  form: /^((canary|ptb)\.)?discord(app)?\.com\/api\/(v\d+\/)?webhooks\/\d+\/./,
  post: (webhookUrl, message) => {
    const url = new URL(webhookUrl);
    // Answered once the message is there, and not before: otherwise nobody would know.
    url.searchParams.set('wait', 'true');
    return { url: url.href, body: JSON.stringify(discordBody(message)), read: readDiscord };
  },
});

export function discordBody({ title, summary, facts, lines, items, link, tone, at }: Message) {
  const parts = [
    ...(summary ? [fit(summary, longest.summary, escapeDiscord)] : []),
    ...(items.length > 0
      ? [fit(items.map((item) => `• ${item}`).join('\n'), longest.items, escapeDiscord)]
      : []),
    ...(lines.length > 0 ? [`\`\`\`\n${fitLast(lines, longest.code, escapeCode)}\n\`\`\``] : []),
  ];
  const fields = facts.slice(0, longest.fields).map(({ name, value }) => ({
    name: fit(name, longest.name, escapeDiscord),
    value: fit(value, longest.value, escapeDiscord) || '-',
    inline: value.length < 40,
  }));
  const embed = {
    title: fit(title, longest.title, escapeDiscord),
    ...(parts.length > 0 && { description: parts.join('\n') }),
    ...(link && { url: link }),
    color: colours[tone],
    ...(fields.length > 0 && { fields }),
    footer: { text: 'Slipway' },
    timestamp: at.toISOString(),
  };
  return { embeds: [embed], allowed_mentions: { parse: [] } };
}

/** It says more exactly than the header, in seconds with a fraction. */
function readDiscord({ status, text }: { status: number; text: string }): Partial<Refused> | undefined {
  if (status !== 429) return undefined;
  const seconds = Number(/"retry_after"\s*:\s*([\d.]+)/.exec(text)?.[1]);
  return Number.isFinite(seconds) ? { retryAfterMs: Math.ceil(seconds * 1000) } : undefined;
}
