/** Writes what is made from the code: openapi.json and the guide to the settings. Tests fail where they are old. */
import { writeFileSync } from 'node:fs';
import { currentOpenApi } from '../test/support/openapi.ts';
import { root } from './commands.ts';
import { settingsGuide } from './settings-guide.ts';

writeFileSync(`${root}openapi.json`, await currentOpenApi());
writeFileSync(`${root}docs/guides/settings.md`, settingsGuide());
