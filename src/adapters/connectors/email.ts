/** Mail, through the service's own mail server, in plain text and in HTML of the same words. */
import Type from 'typebox';
import { errorCode, errorText } from '../../fault.ts';
import { defineConnector, type Message, type Sent, type Tone } from './connector.ts';
import { escapeHtml, fit, fitLast, oneLine } from './fit-text.ts';
import { wrongConfig } from './webhook-url.ts';

const colours: Record<Tone, string> = {
  good: '#2e7d32',
  bad: '#c62828',
  warning: '#b45309',
  neutral: '#475569',
};

export const email = defineConnector({
  type: 'email',
  Config: Type.Object(
    {
      to: Type.Array(Type.String({ minLength: 3, maxLength: 254, examples: ['team@example.com'] }), {
        minItems: 1,
        maxItems: 20,
        uniqueItems: true,
        examples: [['team@example.com']],
      }),
    },
    { additionalProperties: false, title: 'EmailConfig' },
  ),
  // Mailboxes know a mail by its Message-ID.
  canTellRepeats: true,
  check: ({ to }) => {
    // Signs that would make two addresses of one, or a header, have no place in it.
    for (const [index, address] of to.entries())
      if (!/^[^\s@<>,;:"'()[\]\\]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(address))
        throw wrongConfig(`to[${index}]`, 'is not an e-mail address such as team@example.com');
    return { to };
  },
  target: ({ to }) => to.join(', '),
  recipients: ({ to }) => to,
  secrets: () => [],
  send: async ({ to }, message, transports): Promise<Sent> => {
    try {
      const { taken, answer } = await transports.mail({ to, ...mailOf(message), id: message.id });
      const outcome = taken > 0 ? 'delivered' : 'withheld';
      return { outcome, status: null, detail: fit(oneLine(answer), 500) };
    } catch (error) {
      return refused(error);
    }
  },
});

/** Codes from 500 on are for good; what broke off may be sent again, with the same Message-ID. */
function refused(error: unknown): Sent {
  const { responseCode } = Object(error);
  const status = typeof responseCode === 'number' ? responseCode : null;
  const detail = fit(oneLine(errorText(error)), 500);
  if (status === null && errorCode(error) === undefined) throw error;
  return { outcome: 'refused', isFinal: status !== null && status >= 500, status, detail };
}

export function mailOf({ title, summary, facts, lines, items, link, tone, at }: Message) {
  const code = fitLast(lines, 20_000);
  const text = [
    title,
    ...(summary ? [summary] : []),
    ...(items.length > 0 ? [items.map((item) => `- ${item}`).join('\n')] : []),
    ...(facts.length > 0 ? [facts.map(({ name, value }) => `${name}: ${value}`).join('\n')] : []),
    ...(lines.length > 0 ? [code.replace(/^/gm, '    ')] : []),
    ...(link ? [link] : []),
    `Slipway, ${at.toISOString()}`,
  ].join('\n\n');
  const write = (words: string) => fit(words, 40_000, escapeHtml);
  const rows = facts.map(
    ({ name, value }) =>
      `<tr><td style="padding:2px 16px 2px 0;color:#64748b;vertical-align:top">${write(name)}</td><td>${write(value)}</td></tr>`,
  );
  const pre =
    'background:#f1f5f9;padding:12px;border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,monospace';
  const body = [
    `<h1 style="font-size:20px;margin:0 0 12px;border-left:4px solid ${colours[tone]};padding-left:12px">${write(title)}</h1>`,
    ...(summary ? [`<p>${write(summary)}</p>`] : []),
    ...(items.length > 0 ? [`<ul>${items.map((item) => `<li>${write(item)}</li>`).join('')}</ul>`] : []),
    ...(rows.length > 0 ? [`<table style="border-collapse:collapse">${rows.join('')}</table>`] : []),
    ...(lines.length > 0 ? [`<pre style="${pre}">${write(code)}</pre>`] : []),
    ...(link ? [`<p><a href="${write(link)}">${write(link)}</a></p>`] : []),
    `<p style="color:#64748b;font-size:13px">Slipway · ${at.toISOString()}</p>`,
  ].join('');
  const style =
    'font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;max-width:44em;margin:2em auto;padding:0 1em';
  const html = `<!doctype html><html lang="en"><body style="${style}">${body}</body></html>`;
  return { subject: fit(oneLine(title), 200), text: `${text}\n`, html };
}
