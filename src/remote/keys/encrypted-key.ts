/**
 * Opening an OpenSSH key with its passphrase. That is slow on purpose, a third of a second and up, and the file says how
 * slow: so it happens in a thread of its own, which can be ended.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Of the processor, not of the clock: on a busy machine an ordinary key, which takes a second of it, may wait for long. */
const maxProcessorMs = 10_000;
const checkEveryMs = 500;

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
  const timer = setInterval(() => {
    worker.cpuUsage().then(
      ({ user, system }) => {
        if ((user + system) / 1_000 > maxProcessorMs) resolve({ why: 'slow' });
      },
      // It has ended meanwhile, which its own events tell.
      () => undefined,
    );
  }, checkEveryMs);
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the thread that opens keys ended without an answer')));
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    await worker.terminate();
  }
}
