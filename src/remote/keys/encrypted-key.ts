/**
 * Opening an OpenSSH key with its passphrase. That is slow on purpose, a third of a second and up, and the file says how
 * slow: so it happens in a thread of its own, which can be ended.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Of the clock, on a machine that may be busy with builds: an ordinary key takes a second of processor time. */
const timeoutMs = 20_000;

export interface DecryptedKey {
  readonly pem: string;
  readonly comment: string;
}

const program = `
const { parentPort, workerData } = require('node:worker_threads');
const { utils } = require(workerData.library);
const parsed = utils.parseKey(workerData.text, workerData.phrase);
if (parsed instanceof Error) parentPort.postMessage({ why: parsed.message });
else parentPort.postMessage({ pem: parsed.getPrivatePEM(), comment: parsed.comment });
`;

/** `why` is `slow` where it took too long, or the parser's message. */
export async function decryptKey(
  text: string,
  phrase: string,
): Promise<DecryptedKey | { readonly why: string }> {
  const library = createRequire(import.meta.url).resolve('ssh2');
  const worker = new Worker(program, {
    eval: true,
    workerData: { text, phrase, library },
    execArgv: [],
    env: {},
  });
  const { promise, resolve, reject } = Promise.withResolvers<DecryptedKey | { readonly why: string }>();
  const timer = setTimeout(resolve, timeoutMs, { why: 'slow' });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread that opens keys ended without an answer')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
