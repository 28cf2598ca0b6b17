/** What of the command line is made: the fields of every operation for `slipway api`, and the guide. */
import { commonFlags, exitCodes } from '../cli/command.ts';
import { commands } from '../cli/commands.ts';
import { flagUsage } from '../cli/help.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly description?: string;
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
}

type Field = readonly [name: string, type: string, about: string];

/** `cli/generated/api.ts`; `text` is that of openapi.json. */
export function cliOperations(text: string): string {
  const document = JSON.parse(text);
  const resolve = <T extends { readonly $ref?: string }>(value: T): T =>
    value.$ref === undefined
      ? value
      : value.$ref
          .split('/')
          .slice(1)
          .reduce((at, name) => Object(at)[name], document);
  const typeOf = (given: Schema): string => {
    const schema = resolve(given);
    const types = (schema.anyOf ?? [schema]).map((each) => resolve(each).type ?? 'string');
    const [type = 'json', ...others] = [...new Set(types.filter((each) => each !== 'null'))];
    if (others.length > 0 || type === 'object') return 'json';
    if (type !== 'array') return type;
    return schema.items && typeOf(schema.items) === 'string' ? 'strings' : 'json';
  };
  const field = (name: string, schema: Schema, isRequired: boolean, about = ''): Field => [
    isRequired ? `${name}!` : name,
    typeOf(schema),
    about.split('\n')[0] ?? '',
  ];
  const operations: readonly Operation[] = Object.values<Record<string, Operation>>(document.paths).flatMap(
    (methods) => Object.values(methods),
  );
  const rows = operations.map(({ operationId, summary = '', parameters = [], requestBody }) => {
    const inputs = parameters
      .map(resolve)
      .filter((each) => each.in !== 'header')
      .map(({ name, schema, required = false, description }) => field(name, schema, required, description));
    const [body] = Object.values(requestBody?.content ?? {});
    const { properties = {}, required = [] } = resolve(body?.schema ?? {});
    const fields = Object.entries(properties).map(([name, schema]) =>
      field(name, schema, required.includes(name), schema.description ?? resolve(schema).description),
    );
    const about = { summary, inputs, ...(requestBody && { body: fields }) };
    return `  ${operationId}: ${JSON.stringify(about)},\n`;
  });
  return `/** Made from openapi.json by \`npm run generate\`: what each operation takes, for \`slipway api\`. */

export interface ApiOperation {
  readonly summary: string;
  /** Of the path and the query: name (with \`!\` where it must be said), type, and what it is. */
  readonly inputs: readonly (readonly [name: string, type: string, about: string])[];
  readonly body?: readonly (readonly [name: string, type: string, about: string])[];
}

export const api: Readonly<Record<string, ApiOperation>> = {\n${rows.join('')}};\n`;
}

export function cliGuide(): string {
  const sections = commands.map(({ name, takes = '', about, details, flags = [], examples = [] }) =>
    [
      `### slipway ${`${name} ${takes}`.trim()}\n`,
      [about, ...(details ? [details] : [])].join('\n\n'),
      ...(flags.length > 0
        ? [
            '',
            '| Flag | |',
            '|---|---|',
            ...flags.map((flag) => `| \`${flagUsage(flag)}\` | ${flag.about} |`),
          ]
        : []),
      ...(examples.length > 0 ? ['', '```sh', ...examples, '```'] : []),
    ].join('\n'),
  );
  return `# The command line

\`slipway\` deploys from a terminal and from a CI. It talks to the API through the [SDK](sdk.md), and can do what the API can: what has no command of its own is called by \`slipway api\`. This page is written by \`npm run generate\` from the commands themselves.

From a checkout of Slipway it is \`npm run cli --\` or \`npx slipway\`. \`node scripts/pack-cli.ts\` makes an npm package of it that runs wherever Node 20 is, and needs nothing else. (\`npm run slipway\` is another: it works on the machine of the service, on its database, when nobody can sign in.)

\`\`\`sh
slipway login https://slipway.example.com   # shows a code, and opens the browser to allow it
cd my-app && slipway init                   # finds its repository, shows what is in it, makes project and environment
slipway deploy                              # follows it until it is live
slipway deploy --local                      # the files here instead of a pushed commit
slipway logs -f
slipway env set API_KEY && slipway deploy   # the value is asked for, and not shown
slipway rollback
\`\`\`

- **Signing in:** \`login\` shows a code and opens the page of the dashboard that takes it; where there is no browser, open the address on any other machine. The page says which machine asks, from which address. Allow only what you have begun yourself: it can then do what you can, until you \`logout\` or end its session in your profile. It asks for your password or second factor where the last proof is older than ten minutes. Passkeys and single sign-on work, too: the browser does them. \`--email\` takes a password at the prompt, \`--with-token\` an [API token](tokens.md).
- **Which installation:** \`login\` remembers each as a context, in \`~/.config/slipway/contexts.json\`, which only you can read. \`SLIPWAY_URL\` and \`SLIPWAY_TOKEN\` go before it, and nothing is remembered then: [in a CI](ci.md).
- **Which environment:** \`init\` writes \`.slipway.json\` into the folder. Else \`--project\` and \`--environment\`, or \`SLIPWAY_PROJECT\` and \`SLIPWAY_ENVIRONMENT\`; where there is only one, it is that.
- **For programs:** \`--json\` prints the answer of the API. What is followed is one JSON value a line. Errors are \`{"error": …}\` with the [problem](clients.md) of the API.
- **For people:** colour and questions only in a terminal; \`NO_COLOR\` is kept to. Without a terminal nothing is asked: what is missing is an error that names its flag.
- **Ctrl-C** while work is watched asks whether to cancel it or to leave it alone.

## Exit codes

| Code | |
|---|---|
${Object.values(exitCodes)
  .map(([code, about]) => `| ${code} | ${about} |`)
  .join('\n')}

## Flags of every command

| Flag | |
|---|---|
${commonFlags.map((flag) => `| \`${flagUsage(flag)}\` | ${flag.about} |`).join('\n')}

## Commands

${sections.join('\n\n')}
`;
}
