/**
 * Slack, by an incoming webhook: blocks, and a text for notifications. What others have written stands in `plain_text`,
 * where Slack reads neither mentions nor formats, or escaped.
 */
import type { Message, Tone } from './connector.ts';
import { type EscapeSign, fit, fitLast } from './fit-text.ts';
import { defineChatWebhook } from './webhook-url.ts';

const signs: Record<Tone, string> = { good: '✅', bad: '❌', warning: '⚠️', neutral: 'ℹ️' };
const longest = { header: 150, text: 3_000, field: 2_000, fields: 10, code: 2_900 } as const;

/** The three signs that Slack gives a meaning to outside of formats. */
const escapeSlack: EscapeSign = (sign) =>
  sign === '&' ? '&amp;' : sign === '<' ? '&lt;' : sign === '>' ? '&gt;' : sign;
/** Three of them in a row would end the block they stand in. */
const escapeCode: EscapeSign = (sign) => (sign === '`' ? 'ˋ' : escapeSlack(sign));

export const slack = defineChatWebhook({
  type: 'slack',
  title: 'SlackConfig',
  description: 'Of an incoming webhook.',
  example: 'https://hooks.slack.com/services/T000/B000/XXXX',
  called: 'an incoming webhook of Slack',
  // Mattermost and Rocket.Chat take the same messages under /hooks/.
  form: /^hooks\.slack(-gov)?\.com\/(services|workflows|triggers)\/.|^(?!.*slack(-gov)?\.com\/)[^/]+\/hooks\/./,
  post: (url, message) => ({ url, body: JSON.stringify(slackBody(message)) }),
});

export function slackBody(message: Message) {
  const { title, summary, facts, lines, items, link, tone, at } = message;
  const plain = (text: string, most: number) => ({ type: 'plain_text', text: fit(text, most), emoji: false });
  const marked = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });
  const fields = facts
    .slice(0, longest.fields)
    .map(({ name, value }) => plain(`${name}: ${value}`, longest.field));
  const blocks = [
    { type: 'header', text: { ...plain(`${signs[tone]} ${title}`, longest.header), emoji: true } },
    ...(summary ? [{ type: 'section', text: plain(summary, longest.text) }] : []),
    ...(items.length > 0
      ? [{ type: 'section', text: plain(items.map((item) => `• ${item}`).join('\n'), longest.text) }]
      : []),
    ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
    ...(lines.length > 0
      ? [{ type: 'section', text: marked(`\`\`\`\n${fitLast(lines, longest.code, escapeCode)}\n\`\`\``) }]
      : []),
    ...(link ? [{ type: 'section', text: marked(`<${fit(link, 2_000, escapeSlack)}|Open>`) }] : []),
    { type: 'context', elements: [plain(`Slipway · ${at.toISOString()}`, 200)] },
  ];
  const text = fit(`${title}${summary ? `: ${summary}` : ''}`, longest.text, escapeSlack);
  return { text, mrkdwn: false, unfurl_links: false, unfurl_media: false, blocks };
}
