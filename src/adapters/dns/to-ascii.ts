/**
 * A hostname as someone writes it, made into the form DNS knows, or what is wrong with it. The URL standard's own
 * conversion does the mapping; it is no check: it takes underscores, empty labels and `1.2` as an address.
 */
import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';

export type AsciiName =
  | { readonly ok: true; readonly ascii: string }
  | { readonly ok: false; readonly message: string; readonly hint: string };

export interface AsciiOptions {
  /** Whether the first label may be `*`. */
  readonly wildcard?: boolean;
}

const longestName = 253;
const longestLabel = 63;
/** Before any work is done on it: the mapping only ever makes names longer in A-labels, never this much shorter. */
const longestInput = 1_000;
/** What belongs to URLs and not to names. A percent sign would be decoded by the conversion, so it must not get there. */
const ofUrls = /[/\\:@?#%[\]]/;

export function toAscii(text: string, { wildcard = false }: AsciiOptions = {}): AsciiName {
  const given = text.trim();
  if (given === '') return wrong('The hostname is empty.', 'Give one such as app.example.com.');
  if (given.length > longestInput) return tooLong();
  if (isIP(given.replace(/^\[(.*)\]$/, '$1')) !== 0) return isAddress(given);
  const mark = ofUrls.exec(given)?.[0];
  if (mark !== undefined)
    return wrong(
      `A hostname cannot have “${mark}” in it.`,
      'Give the name alone, without https://, port or path.',
    );
  const isWildcard = /^\*[.\u3002\uff0e\uff61]/.test(given);
  if (isWildcard && !wildcard)
    return wrong('A wildcard is not possible here.', 'Give the name without “*.” in front.');
  const rest = isWildcard ? given.slice(2) : given;
  if (rest.includes('*'))
    return wrong('A “*” stands for the whole first label, and for no other.', 'Write *.example.com.');
  if (/\s/.test(rest)) return wrong('A hostname cannot have a space in it.', 'Remove the space.');
  // Read before the conversion, which would make an address of them.
  const lastLabel = rest.replace(/\.$/, '').split('.').at(-1) ?? '';
  if (/^(\d+|0x[\da-f]*)$/i.test(lastLabel)) return isAddress(given);
  const ascii = domainToASCII(rest).replace(/\.$/, '');
  if (ascii === '')
    return wrong(
      'The hostname has characters that no domain name can have.',
      'Use letters, digits and hyphens, of any language.',
    );
  const fault = whatIsWrong(ascii, isWildcard);
  if (fault) return fault;
  return { ok: true, ascii: isWildcard ? `*.${ascii}` : ascii };
}

function whatIsWrong(ascii: string, isWildcard: boolean): AsciiName | undefined {
  if (isIP(ascii) !== 0) return isAddress(ascii);
  if (ascii.length + (isWildcard ? 2 : 0) > longestName) return tooLong();
  const labels = ascii.split('.');
  for (const label of labels) {
    const fault = labelFault(label);
    if (fault) return fault;
  }
  if (labels.length < 2)
    return wrong(
      isWildcard
        ? `*.${ascii} would be every name under ${ascii}, which belongs to nobody.`
        : `${ascii} is a single word, and a domain name has at least two parts.`,
      'Give the whole name, such as app.example.com.',
    );
  return undefined;
}

function labelFault(label: string): AsciiName | undefined {
  if (label === '')
    return wrong('The hostname has two dots in a row, or begins with one.', 'Remove the dot.');
  const shown = label.startsWith('xn--') ? domainToUnicode(label) : label;
  if (label.length > longestLabel)
    return wrong(
      `The part “${shown.slice(0, 20)}…” has ${label.length} characters, and ${longestLabel} are the most.`,
      'Shorten it. Letters that are not a to z take more room than they show.',
    );
  if (label.includes('_'))
    return wrong(
      `The part “${shown}” has an underscore, which names of websites cannot have.`,
      'Use a hyphen instead; authorities issue no certificate for names with an underscore.',
    );
  if (!/^[a-z0-9-]+$/.test(label))
    return wrong(
      `The part “${shown}” has a character that no hostname can have.`,
      'Use letters, digits and hyphens.',
    );
  if (label.startsWith('-') || label.endsWith('-'))
    return wrong(
      `The part “${shown}” begins or ends with a hyphen.`,
      'Hyphens stand between other characters.',
    );
  // The conversion leaves an A-label that means nothing as it is.
  if (label.slice(2, 4) === '--' && (!label.startsWith('xn--') || shown === label))
    return wrong(
      `The part “${label}” is written as an internationalised name, and is not one.`,
      'Give the name in its own letters instead.',
    );
  return undefined;
}

function isAddress(text: string): AsciiName {
  return wrong(`${text.slice(0, 60)} is an address and not a name.`, 'Give a domain name that points there.');
}

function tooLong(): AsciiName {
  return wrong(`The hostname is longer than ${longestName} characters.`, 'Give a shorter one.');
}

function wrong(message: string, hint: string): AsciiName {
  return { ok: false, message, hint };
}
