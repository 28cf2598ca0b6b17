/** Something that a person does: whether it runs, and why it did not work. Asks for a fresh proof where that is needed. */
import { useState } from 'preact/hooks';
import { ProblemError } from '../../sdk/index.ts';
import { type Failure, failureOf } from '../data/failure.ts';
import { sessionEnded } from '../data/session.ts';
import { askProof } from './ask-proof.ts';

export interface Action<Input extends readonly unknown[], Result = unknown> {
  /** What came of the last time, if that was a success. */
  readonly result: Result | undefined;
  readonly run: (...input: Input) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly failure: Failure | undefined;
}

export function useAction<Input extends readonly unknown[], Result>(
  work: (...input: Input) => Promise<Result>,
): Action<Input, Result> {
  const [result, setResult] = useState<Result>();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const run = async (...input: Input): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setFailure(undefined);
    try {
      const done = await work(...input).catch(async (error: unknown) => {
        if (!(error instanceof ProblemError) || error.code !== 'fresh_proof_required') throw error;
        if (await askProof()) return work(...input);
        throw error;
      });
      setResult(() => done);
      return true;
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'unauthenticated') await sessionEnded();
      setFailure(failureOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { run, isBusy, failure, result };
}

/** The fields of a form by name. */
export function fieldsOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}
