import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTelegramHtml, wrongWith } from '../../../lab/services/receivers-checks.ts';
import { hostileTexts, ordinary, randomMessages } from '../../../test/support/connector-messages.ts';
import type { Message } from './connector.ts';
import { discordBody, escapeDiscord } from './discord.ts';
import { mailOf } from './email.ts';
import { fit, fitLast, oneLine, plain } from './fit-text.ts';
import { slackBody } from './slack.ts';
import { teamsBody } from './teams.ts';
import { telegramBody } from './telegram.ts';

const with_ = (text: string): Message => ({
  ...ordinary,
  title: oneLine(text),
  summary: text,
  facts: [{ name: oneLine(text), value: text }],
  lines: text.split('\n'),
  items: [oneLine(text)],
});
const all = [ordinary, ...hostileTexts.map(with_), ...randomMessages(7, 200)];
const telegramText = (message: Message) =>
  JSON.stringify({ chat_id: '-1001000000001', ...telegramBody(message) });

test('every message is one that Discord, Telegram and Teams take, by their published schemas and limits', () => {
  for (const message of all) {
    assert.equal(wrongWith('discord', JSON.stringify(discordBody(message))), undefined);
    assert.equal(wrongWith('telegram', telegramText(message)), undefined);
    assert.equal(wrongWith('teams', teamsBody(message)), undefined);
  }
});

test('every message keeps to the limits of Slack’s blocks', () => {
  for (const message of all) {
    const { blocks, text } = slackBody(message);
    assert.ok(blocks.length <= 50 && text.length <= 3_000);
    for (const block of blocks) {
      const own = Object(block);
      if (own.type === 'header') assert.ok(own.text.text.length <= 150);
      if (own.type === 'section' && own.text) {
        assert.ok(own.text.text.length >= 1 && own.text.text.length <= 3_000, own.text.text.length);
      }
      if (own.fields) {
        assert.ok(own.fields.length >= 1 && own.fields.length <= 10);
        for (const field of own.fields) assert.ok(field.text.length >= 1 && field.text.length <= 2_000);
      }
    }
  }
});

test('in Slack nothing that others wrote can mention, link or format', () => {
  for (const message of all) {
    const { blocks, text } = slackBody({ ...message, link: null });
    // Outside of plain texts a `<` is the only beginning of a mention or a link.
    assert.doesNotMatch(text, /[<>]/);
    for (const block of blocks) {
      const own = Object(block);
      if (own.text?.type !== 'mrkdwn') continue;
      assert.doesNotMatch(own.text.text, /[<>]/);
      assert.equal(own.text.text.split('```').length, 3, 'the block of code is opened and closed once');
    }
  }
});

test('in Discord nothing that others wrote can mention, link or format', () => {
  for (const message of all) {
    const { embeds, allowed_mentions } = discordBody(message);
    assert.deepEqual(allowed_mentions, { parse: [] });
    assert.ok(!('content' in discordBody(message)), 'only a content calls anyone');
    const [embed] = embeds;
    assert.ok(embed);
    const [before = '', ...rest] = (embed.description ?? '').split('```');
    assert.ok(rest.length === 0 || rest.length === 2, 'the block of code is opened and closed once');
    // Every sign with a meaning stands behind a backslash of its own.
    for (const text of [
      embed.title,
      before,
      ...(embed.fields ?? []).flatMap(({ name, value }) => [name, value]),
    ])
      assert.doesNotMatch(text.replaceAll(/\\[!-/:-@[-`{-~]/g, ''), /[*_~`|<>[\]()#@\\]/);
  }
  assert.equal(fit('a*b', 100, escapeDiscord), 'a\\*b');
});

test('in Telegram what others wrote is read back as it was, and calls nobody', () => {
  for (const text of hostileTexts) {
    const read = readTelegramHtml(telegramBody({ ...with_(text), facts: [], items: [], lines: [] }).text);
    assert.ok('text' in read, JSON.stringify(read));
    assert.ok(read.text.replaceAll('\u200b', '').includes(fit(text, 600)), text);
    assert.doesNotMatch(read.text, /@\w/);
  }
});

test('a mail has the same words in plain text and in HTML, and no markup of others', () => {
  for (const text of hostileTexts) {
    const { html, subject } = mailOf(with_(text));
    assert.doesNotMatch(html, /<script|<at>|href="https:\/\/evil|<b>/);
    assert.doesNotMatch(subject, /[\r\n]/);
    const back = html
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
    assert.ok(back.includes(text), back);
  }
  assert.match(
    mailOf(ordinary).text,
    /deployment #12 failed\n\nThe image[\s\S]*Duration: 1 min 12 s\n\n {4}npm error/,
  );
});

test('texts are cut between signs, never inside an escape or a pair', () => {
  const escapeAmp = (sign: string) => (sign === '&' ? '&amp;' : sign);
  for (let most = 2; most < 40; most += 1) {
    for (const text of ['&&&&&&&&&&', '😀😀😀😀😀😀😀😀😀😀', 'a&😀b&😀c&😀d']) {
      const cut = fit(text, most, escapeAmp);
      assert.ok(cut.length <= most, `${cut.length} > ${most}`);
      assert.ok(cut.isWellFormed());
      assert.match(cut, /^(&amp;|[^&])*$/u);
      const last = fitLast([text, text], most + 10, escapeAmp);
      assert.ok(last.length <= most + 10 && last.isWellFormed());
      assert.match(last, /^(&amp;|[^&])*$/u);
    }
  }
  assert.equal(fit('short', 10), 'short');
  assert.equal(fit('much longer', 7), 'much l…');
  assert.equal(fitLast(['one', 'two', 'three'], 10), '…\nthree');
});

test('of a terminal’s and a writer’s orders nothing is left', () => {
  assert.equal(
    plain('\u001b[31mred\u001b[0m \u001b]8;;https://evil\u0007x\u0000\u202Eabc\r\nd\ud800'),
    'red xabc\nd\ufffd',
  );
  assert.equal(oneLine(' a\n\tb  c '), 'a b c');
});
