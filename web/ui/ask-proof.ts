/** Whoever is asked to prove themselves again, and whoever waits for it. */
import { signal } from '@preact/signals';

export const askedProof = signal<((isProven: boolean) => void) | undefined>(undefined);

export function askProof(): Promise<boolean> {
  return new Promise((resolve) => {
    askedProof.value = (isProven) => {
      askedProof.value = undefined;
      resolve(isProven);
    };
  });
}
