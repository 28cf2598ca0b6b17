/** Something that a person does: whether it runs, and why it did not work. Asks for the password where that is needed. */
import { useState } from 'preact/hooks';
import { ProblemError } from '../../sdk/index.ts';
import { type Failure, failureOf } from '../data/failure.ts';
import { sessionEnded } from '../data/session.ts';
import { askProof } from './proof.tsx';

export interface Action<Input extends readonly unknown[]> {
  readonly run: (...input: Input) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly failure: Failure | undefined;
  readonly clear: () => void;
}

export function useAction<Input extends readonly unknown[]>(
  work: (...input: Input) => Promise<unknown>,
): Action<Input> {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const run = async (...input: Input): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setFailure(undefined);
    try {
      await work(...input).catch(async (error: unknown) => {
        if (!(error instanceof ProblemError) || error.code !== 'fresh_proof_required') throw error;
        if (await askProof()) return work(...input);
        throw error;
      });
      return true;
    } catch (error) {
      if (error instanceof ProblemError && error.code === 'unauthenticated') await sessionEnded();
      setFailure(failureOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { run, isBusy, failure, clear: () => setFailure(undefined) };
}

/** The fields of a form by name. */
export function fieldsOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}
