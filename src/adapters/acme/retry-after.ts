/** When an authority wants to be asked again: in its header, or only in its words. */

/** In seconds from now; a date that has passed is none. */
export function retryAfterOf(headers: Headers, words: string, now: Date): number | undefined {
  const header = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(header)) return Number(header);
  return secondsUntil(Date.parse(header), now) ?? retryAfterIn(words, now);
}

/** Let's Encrypt ends its sentence with «retry after 2026-03-01 12:00:00 UTC: see …». */
function retryAfterIn(words: string, now: Date): number | undefined {
  const found = /retry after (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)/i.exec(words);
  return found ? secondsUntil(Date.parse(`${found[1]}T${found[2]}Z`), now) : undefined;
}

function secondsUntil(time: number, now: Date): number | undefined {
  const seconds = Math.ceil((time - now.getTime()) / 1000);
  return seconds > 0 ? seconds : undefined;
}
