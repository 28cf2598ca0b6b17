/** What an answer is checked against, and what is made of its fields. */
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { Fault } from '../../fault.ts';
import type { RepositoryRef } from './host.ts';
import { misunderstood } from './host-faults.ts';

/** The value, if it fits the schema. Fields that the schema does not name are ignored. */
export function checkedAnswer<T extends TSchema>(schema: T, value: unknown, label: string): Static<T> {
  if (Value.Check(schema, value)) return value;
  const [first] = Value.Errors(schema, value);
  throw misunderstood(label, `${first?.instancePath || 'the answer'} ${first?.message ?? 'is wrong'}`);
}

/** No name of any host is longer; what a stranger's host makes up would be kept in memory, by the thousand. */
const longest = 500;

export const Id = Type.Union([Type.Integer({ minimum: 0 }), Type.String({ minLength: 1, maxLength: 100 })]);
export const Text = Type.String({ minLength: 1, maxLength: longest });
export const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));
export const MaybeBoolean = Type.Optional(Type.Union([Type.Boolean(), Type.Null()]));

/** As much of it as anyone reads. Copied: a piece of a text keeps the whole of it in memory. */
export function textOrNull(text: string | null | undefined): string | null {
  if (!text) return null;
  return text.length <= longest ? text : Buffer.from(text.slice(0, longest).toWellFormed()).toString();
}

export function dateOrNull(text: string | null | undefined): Date | null {
  const date = new Date(text ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** A picture for a browser to load: nothing but an address of http or https. */
export function pictureOrNull(text: string | null | undefined): string | null {
  const url = text && text.length <= 2_000 ? URL.parse(text) : null;
  return url && ['http:', 'https:'].includes(url.protocol) ? url.href : null;
}

/** Scopes as headers and messages list them, with commas or spaces between them. */
export const scopesIn = (text: string): string[] => text.split(/[\s,]+/).filter((scope) => scope !== '');

/** The parts of `owner/name`, encoded for a path. Refuses those that would become another path of the API. */
export function nameParts(fullName: string, most = 2): string[] {
  const parts = fullName.split('/');
  const isGood = (part: string) =>
    part !== '' && part !== '.' && part !== '..' && !/[\0-\x20\x7f\\?#%]/.test(part);
  if (parts.length >= 2 && parts.length <= most && parts.every(isGood)) return parts.map(encodeURIComponent);
  throw new Fault('invalid_input', 'The name of the repository is not one such as owner/name.', {
    errors: [{ path: 'fullName', message: 'is not a name such as owner/name' }],
  });
}

/** A number, or a UUID in braces, encoded for a path. */
export function idPart(id: string): string {
  if (/^(\d{1,15}|\{[\w-]+\})$/.test(id)) return encodeURIComponent(id);
  throw new Fault('invalid_input', 'The id is not one of this host.', {
    errors: [{ path: 'id', message: 'is not an id of this host' }],
  });
}

export const isNamed = (ref: RepositoryRef): ref is { readonly fullName: string } => 'fullName' in ref;
