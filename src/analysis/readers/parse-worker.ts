/** Runs on a thread of its own: see `parse-thread.ts` for why. */
import { parentPort } from 'node:worker_threads';
import { sourceFactsOf } from './javascript/facts.ts';
import { type ParseAnswer, type ParseOutcome, type ParseQuestion, readyId } from './parse-thread.ts';
import { parseYaml } from './yaml.ts';

parentPort?.on('message', (question: ParseQuestion) => {
  const answer: ParseAnswer = { id: question.id, ...outcomeOf(question) };
  parentPort?.postMessage(answer);
});

function outcomeOf({ kind, path, text }: ParseQuestion): ParseOutcome {
  try {
    return { value: kind === 'yaml' ? parseYaml(text) : sourceFactsOf(path, text) };
  } catch (error) {
    return { failed: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) };
  }
}

parentPort?.postMessage({ id: readyId, value: null } satisfies ParseAnswer);
