/** The content of a file in an answer: as base64, or as it is. */
import { type Answer, ApiError } from './answers.ts';

export const largestFile = 100 * 1024 * 1024;
/** Above this GitHub names the file, but leaves its content out. */
export const largestInline = 1024 * 1024;

export function wantsRaw(accept: string): boolean {
  return /application\/vnd\.github\.(v3\.)?raw/.test(accept);
}

export function rawAnswer(bytes: Buffer): Answer {
  const headers = { 'Content-Type': 'application/vnd.github.raw; charset=utf-8' };
  return { status: 200, bytes, headers };
}

export function base64Lines(bytes: Buffer): string {
  return bytes.toString('base64').replace(/.{1,60}/g, '$&\n');
}

export function tooLarge(resource: string): ApiError {
  const message = 'This API returns files of up to 100 MB in size. The requested file is too large.';
  return new ApiError(403, message, { errors: [{ resource, field: 'data', code: 'too_large' }] });
}
