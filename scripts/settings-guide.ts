/** The guide to the settings, from the table in src/config.ts. */
import { settings } from '../src/config.ts';

export function settingsGuide(): string {
  const rows = Object.values(settings).map(({ env, standard, about }) => {
    const shown = standard === undefined ? '' : standard === '' ? 'none' : `\`${standard}\``;
    return `| \`${env}\` | ${shown} | ${about.replaceAll('|', '\\|')} |`;
  });
  return `# Settings

Settings are environment variables. A wrong value, or a name that begins with \`SLIPWAY_\` and is not in this list, stops the start with a sentence that names it. This page is written by \`npm run generate\`.

| Setting | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}
