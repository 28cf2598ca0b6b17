/** Writes what is made from the code: openapi.json, what of the SDK and the command line is made from it, and the guides to the command line, the settings and the roles. Tests fail where they are old. */
import { writeFileSync } from 'node:fs';
import { currentOpenApi } from '../test/support/openapi.ts';
import { cliGuide, cliOperations } from './cli-source.ts';
import { root } from './commands.ts';
import { rolesGuide } from './roles-guide.ts';
import { sdkSource } from './sdk-source.ts';
import { settingsGuide } from './settings-guide.ts';

const document = await currentOpenApi();
writeFileSync(`${root}openapi.json`, document);
const { schemas, operations } = sdkSource(document);
writeFileSync(`${root}sdk/generated/schemas.ts`, schemas);
writeFileSync(`${root}sdk/generated/operations.ts`, operations);
writeFileSync(`${root}cli/generated/api.ts`, cliOperations(document));
writeFileSync(`${root}docs/guides/cli.md`, cliGuide());
writeFileSync(`${root}docs/guides/roles.md`, rolesGuide(document));
writeFileSync(`${root}docs/guides/settings.md`, settingsGuide());
