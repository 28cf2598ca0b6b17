/**
 * What Discord, Telegram and Teams take, as JSON schemas written down from what their makers publish: Discord's
 * "Execute Webhook" and "Embed Limits", the Bot API's `sendMessage`, and the Adaptive Card schema 1.5. What they do not
 * name is refused here, though some of them would overlook it.
 */

const text = (least: number, most: number) => ({ type: 'string', minLength: least, maxLength: most });
const closed = { type: 'object', additionalProperties: false } as const;
const snowflake = { type: 'string', pattern: '^\\d{15,22}$' };
const url = { type: 'string', format: 'uri', pattern: '^https?://' };

const embed = {
  ...closed,
  properties: {
    title: text(1, 256),
    type: { const: 'rich' },
    description: text(1, 4096),
    url,
    timestamp: { type: 'string', format: 'date-time' },
    color: { type: 'integer', minimum: 0, maximum: 0xffffff },
    footer: { ...closed, required: ['text'], properties: { text: text(1, 2048), icon_url: url } },
    image: { ...closed, required: ['url'], properties: { url } },
    thumbnail: { ...closed, required: ['url'], properties: { url } },
    author: { ...closed, required: ['name'], properties: { name: text(1, 256), url, icon_url: url } },
    fields: {
      type: 'array',
      maxItems: 25,
      items: {
        ...closed,
        required: ['name', 'value'],
        properties: { name: text(1, 256), value: text(1, 1024), inline: { type: 'boolean' } },
      },
    },
  },
};

export const discordSchema = {
  ...closed,
  anyOf: [{ required: ['content'] }, { required: ['embeds'] }],
  properties: {
    content: text(1, 2000),
    username: text(1, 80),
    avatar_url: url,
    tts: { type: 'boolean' },
    embeds: { type: 'array', minItems: 1, maxItems: 10, items: embed },
    allowed_mentions: {
      ...closed,
      properties: {
        parse: { type: 'array', uniqueItems: true, items: { enum: ['roles', 'users', 'everyone'] } },
        roles: { type: 'array', maxItems: 100, items: snowflake },
        users: { type: 'array', maxItems: 100, items: snowflake },
        replied_user: { type: 'boolean' },
      },
    },
    flags: { type: 'integer' },
    thread_name: text(1, 100),
    applied_tags: { type: 'array', items: snowflake },
  },
};

export const telegramSchema = {
  ...closed,
  required: ['chat_id', 'text'],
  properties: {
    business_connection_id: { type: 'string' },
    chat_id: { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^(-?\\d+|@\\w{5,32})$' }] },
    message_thread_id: { type: 'integer' },
    // The limit counts after the entities were read; see the check.
    text: { type: 'string', minLength: 1 },
    parse_mode: { enum: ['HTML', 'Markdown', 'MarkdownV2'] },
    entities: { type: 'array' },
    link_preview_options: {
      ...closed,
      properties: {
        is_disabled: { type: 'boolean' },
        url: { type: 'string' },
        prefer_small_media: { type: 'boolean' },
        prefer_large_media: { type: 'boolean' },
        show_above_text: { type: 'boolean' },
      },
    },
    disable_notification: { type: 'boolean' },
    protect_content: { type: 'boolean' },
    allow_paid_broadcast: { type: 'boolean' },
    message_effect_id: { type: 'string' },
    reply_parameters: { type: 'object' },
    reply_markup: { type: 'object' },
  },
};

const sizes = { enum: ['Default', 'Small', 'Medium', 'Large', 'ExtraLarge'] };
const weights = { enum: ['Default', 'Lighter', 'Bolder'] };
const colours = { enum: ['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'] };
const fonts = { enum: ['Default', 'Monospace'] };
const alignment = { enum: ['Left', 'Center', 'Right'] };
/** Every element has these. */
const common = {
  id: { type: 'string' },
  isVisible: { type: 'boolean' },
  separator: { type: 'boolean' },
  spacing: { enum: ['None', 'Small', 'Default', 'Medium', 'Large', 'ExtraLarge', 'Padding'] },
  height: { enum: ['auto', 'stretch'] },
  requires: { type: 'object' },
  fallback: {},
};
const element = (type: string, required: readonly string[], properties: object) => ({
  ...closed,
  required: ['type', ...required],
  properties: { type: { const: type }, ...common, ...properties },
});
const look = { size: sizes, weight: weights, color: colours, fontType: fonts, isSubtle: { type: 'boolean' } };

const definitions = {
  openUrl: {
    ...closed,
    required: ['type', 'url'],
    properties: {
      type: { const: 'Action.OpenUrl' },
      title: { type: 'string' },
      url,
      iconUrl: url,
      id: { type: 'string' },
      tooltip: { type: 'string' },
      style: { enum: ['default', 'positive', 'destructive'] },
      mode: { enum: ['primary', 'secondary'] },
      isEnabled: { type: 'boolean' },
      fallback: {},
      requires: { type: 'object' },
    },
  },
  run: {
    ...closed,
    required: ['type', 'text'],
    properties: {
      type: { const: 'TextRun' },
      text: { type: 'string' },
      ...look,
      highlight: { type: 'boolean' },
      italic: { type: 'boolean' },
      strikethrough: { type: 'boolean' },
      underline: { type: 'boolean' },
      selectAction: { $ref: '#/definitions/openUrl' },
    },
  },
  textBlock: element('TextBlock', ['text'], {
    text: { type: 'string' },
    ...look,
    horizontalAlignment: alignment,
    wrap: { type: 'boolean' },
    maxLines: { type: 'integer' },
    style: { enum: ['default', 'heading'] },
  }),
  richTextBlock: element('RichTextBlock', ['inlines'], {
    inlines: { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#/definitions/run' }] } },
    horizontalAlignment: alignment,
  }),
  factSet: element('FactSet', ['facts'], {
    facts: {
      type: 'array',
      items: {
        ...closed,
        required: ['title', 'value'],
        properties: { type: { const: 'Fact' }, title: { type: 'string' }, value: { type: 'string' } },
      },
    },
  }),
  container: element('Container', ['items'], {
    items: { type: 'array', items: { $ref: '#/definitions/element' } },
    style: { enum: ['default', 'emphasis', 'good', 'attention', 'warning', 'accent'] },
    bleed: { type: 'boolean' },
  }),
  actionSet: element('ActionSet', ['actions'], {
    actions: { type: 'array', items: { $ref: '#/definitions/openUrl' } },
  }),
  element: {
    anyOf: ['textBlock', 'richTextBlock', 'factSet', 'container', 'actionSet'].map((name) => ({
      $ref: `#/definitions/${name}`,
    })),
  },
};

const card = {
  ...closed,
  required: ['type', 'version', 'body'],
  properties: {
    $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
    type: { const: 'AdaptiveCard' },
    version: { enum: ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5'] },
    fallbackText: { type: 'string' },
    speak: { type: 'string' },
    lang: { type: 'string' },
    minHeight: { type: 'string' },
    msteams: { type: 'object', properties: { width: { enum: ['Full', 'Standard'] } } },
    body: { type: 'array', minItems: 1, items: { $ref: '#/definitions/element' } },
    actions: { type: 'array', maxItems: 6, items: { $ref: '#/definitions/openUrl' } },
  },
};

/** The envelope that a workflow's webhook trigger takes, with one card. */
export const teamsSchema = {
  ...closed,
  definitions,
  required: ['type', 'attachments'],
  properties: {
    type: { const: 'message' },
    attachments: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        ...closed,
        required: ['contentType', 'content'],
        properties: {
          contentType: { const: 'application/vnd.microsoft.card.adaptive' },
          contentUrl: { type: ['string', 'null'] },
          content: card,
        },
      },
    },
  },
};
