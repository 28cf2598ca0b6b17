/** Writes openapi.json from the routes. A test fails where the committed file is another. */
import { writeFileSync } from 'node:fs';
import { currentOpenApi } from '../test/support/openapi.ts';
import { root } from './commands.ts';

writeFileSync(`${root}openapi.json`, await currentOpenApi());
