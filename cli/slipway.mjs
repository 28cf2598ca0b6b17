#!/usr/bin/env node
/** `npx slipway` in a checkout: with the Node that this project pins. What is packed has a file of its own. */
import { fileURLToPath } from 'node:url';

process.argv.splice(2, 0, fileURLToPath(new URL('main.ts', import.meta.url)));
await import('../scripts/run.mjs');
