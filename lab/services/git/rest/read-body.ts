/** The JSON object in a request; GitHub does not look at the content type. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from './answers.ts';

const longest = 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > longest) throw new ApiError(413, 'The body of the request is too large.');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (text.trim() === '') return {};
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ApiError(400, 'Body should be a JSON object');
  return Object.fromEntries(Object.entries(value));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiError(400, 'Problems parsing JSON', { cause: String(error) });
  }
}
