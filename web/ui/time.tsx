/** When something was, as people say it; the exact time is one look away. One clock moves all of them. */
import { signal } from '@preact/signals';
import { ago, duration } from '../data/words.ts';

const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 15_000);
document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});

export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {ago(at, now.value)}
    </time>
  );
}

const second = signal(Date.now());
let watching = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Seconds tick only while something that runs is on the page. */
export function watchSeconds(): () => void {
  watching += 1;
  timer ??= setInterval(() => {
    second.value = Date.now();
  }, 1_000);
  return () => {
    watching -= 1;
    if (watching > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

export function Elapsed({ from, to }: { readonly from: string; readonly to: string | null }) {
  const end = to === null ? Math.max(second.value, Date.parse(from)) : Date.parse(to);
  return <span class="elapsed">{duration(end - Date.parse(from))}</span>;
}
