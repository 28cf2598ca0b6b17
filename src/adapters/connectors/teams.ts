/**
 * Microsoft Teams, by the webhook of a workflow: an Adaptive Card. What others have written stands in text runs, which
 * Teams shows as they are: no format is read in them, and nobody is mentioned.
 */
import type { Message, Tone } from './connector.ts';
import { fit, fitLast } from './fit-text.ts';
import { defineChatWebhook } from './webhook-url.ts';

const colours: Record<Tone, string> = {
  good: 'Good',
  bad: 'Attention',
  warning: 'Warning',
  neutral: 'Default',
};
/** Of the whole request; Teams refuses what is larger. */
export const mostTeamsBytes = 28 * 1024;
const longest = {
  title: 300,
  summary: 2_000,
  items: 6_000,
  name: 100,
  value: 500,
  facts: 12,
  code: 8_000,
} as const;

export const teams = defineChatWebhook({
  type: 'teams',
  title: 'TeamsConfig',
  description: 'Of a workflow that posts to a channel when a webhook request is received.',
  example: 'https://example.westeurope.logic.azure.com/workflows/XXXX/triggers/manual/paths/invoke',
  called: 'a workflow of Teams',
  form: /^[^/]+\.(logic\.azure\.(com|us|cn)|api\.powerplatform\.(com|us|cn))\/(.+\/)?workflows\/.|^[^/]+\.webhook\.office\.com\/webhookb2\/./,
  post: (url, message) => ({ url, body: teamsBody(message) }),
});

/** As it is sent: a sign may take many bytes, so the last lines give way until it fits. */
export function teamsBody(message: Message): string {
  for (let share = 1; ; share /= 2) {
    const body = JSON.stringify(card(message, share));
    if (Buffer.byteLength(body) <= mostTeamsBytes || share < 0.01) return body;
  }
}

function card({ title, summary, facts, lines, items, link, tone, at }: Message, share: number) {
  const text = (inlines: readonly object[], more: object = {}) => ({
    type: 'RichTextBlock',
    inlines,
    ...more,
  });
  const run = (words: string, most: number, more: object = {}) => ({
    type: 'TextRun',
    text: fit(words, Math.max(20, Math.floor(most * Math.min(1, share * 2)))) || ' ',
    ...more,
  });
  const code = fitLast(lines, Math.max(20, Math.floor(longest.code * share)));
  const body = [
    text([run(title, longest.title, { weight: 'Bolder', size: 'Large', color: colours[tone] })]),
    ...(summary ? [text([run(summary, longest.summary)])] : []),
    ...(items.length > 0 ? [text([run(items.map((item) => `• ${item}`).join('\n'), longest.items)])] : []),
    ...facts.slice(0, longest.facts).map(({ name, value }) =>
      text([run(`${name}: `, longest.name, { weight: 'Bolder' }), run(value, longest.value)], {
        spacing: 'Small',
      }),
    ),
    ...(lines.length > 0
      ? [text([{ type: 'TextRun', text: code, fontType: 'Monospace', size: 'Small' }])]
      : []),
    text([{ type: 'TextRun', text: `Slipway · ${at.toISOString()}`, isSubtle: true, size: 'Small' }]),
  ];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: fit(title, 300),
    msteams: { width: 'Full' },
    body,
    ...(link && { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}
